// A thread that looks at once, when it is woken, and no more once it is stopped.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <time.h>

#include "server/common/background.h"

typedef struct Look {
    Background *thread;
    atomic_int count;
    atomic_bool long_one, ended;
} Look;

static void look(void *arg) {
    Look *self = arg;
    atomic_fetch_add(&self->count, 1);
    while (atomic_load(&self->long_one) && !background_is_stopping(self->thread))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    atomic_store(&self->ended, true);
}

static void wait_for(Look *self, int count) {
    for (int i = 0; atomic_load(&self->count) < count; i++) {
        if (i == 60000)
            fail_msg("%d looks instead of %d", atomic_load(&self->count), count);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static void it_looks_at_once_and_when_it_is_woken(void **state) {
    (void)state;
    Look self = {0};
    Error err;
    assert_true(background_start(&self.thread, look, &self, 3600, &err));
    wait_for(&self, 1);
    background_wake(self.thread);
    wait_for(&self, 2);
    background_stop(self.thread);
    assert_int_equal(self.count, 2);
}

static void stopping_ends_a_long_look_and_waits_for_it(void **state) {
    (void)state;
    Look self = {.long_one = true};
    Error err;
    assert_true(background_start(&self.thread, look, &self, 3600, &err));
    wait_for(&self, 1);
    background_stop(self.thread);
    assert_true(self.ended);
    background_stop(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_looks_at_once_and_when_it_is_woken),
        cmocka_unit_test(stopping_ends_a_long_look_and_waits_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

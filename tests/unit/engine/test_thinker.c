// The thread that thinks, and when a command must wait for it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/uci/thinker.h"

typedef struct Work {
    Thinker thinker;
    atomic_bool may_end, has_begun, has_written;
} Work;

static void *work_until_it_may_end(void *context) {
    Work *work = context;
    atomic_store(&work->has_begun, true);
    while (!atomic_load(&work->may_end))
        ;
    thinker_answers(&work->thinker);
    atomic_store(&work->has_written, true);
    return NULL;
}

static void it_is_not_free_while_it_thinks(void **state) {
    (void)state;
    Work work = {0};
    assert_true(thinker_is_free(&work.thinker));
    thinker_start(&work.thinker, work_until_it_may_end, &work);
    assert_false(thinker_is_free(&work.thinker));
    while (!atomic_load(&work.has_begun))
        ;
    assert_false(thinker_is_free(&work.thinker));
    atomic_store(&work.may_end, true);
    thinker_join(&work.thinker);
    assert_true(atomic_load(&work.has_written));
    assert_true(thinker_is_free(&work.thinker));
}

static void after_a_stop_the_next_command_waits_for_the_answer(void **state) {
    (void)state;
    for (int i = 0; i < 100; i++) {
        Work work = {0};
        thinker_start(&work.thinker, work_until_it_may_end, &work);
        atomic_store(&work.may_end, true); // what tells a search to stop
        thinker_stop(&work.thinker);
        assert_true(thinker_is_free(&work.thinker));
        assert_true(atomic_load(&work.has_written));
    }
}

static void a_stop_without_a_search_leaves_it_free(void **state) {
    (void)state;
    Work work = {0};
    thinker_stop(&work.thinker);
    assert_true(thinker_is_free(&work.thinker));
    thinker_start(&work.thinker, work_until_it_may_end, &work);
    assert_false(thinker_is_free(&work.thinker));
    atomic_store(&work.may_end, true);
    thinker_join(&work.thinker);
    thinker_stop(&work.thinker);
    assert_true(thinker_is_free(&work.thinker));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_not_free_while_it_thinks),
        cmocka_unit_test(after_a_stop_the_next_command_waits_for_the_answer),
        cmocka_unit_test(a_stop_without_a_search_leaves_it_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

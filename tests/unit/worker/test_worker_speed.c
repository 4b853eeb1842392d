// How a machine's speed is measured.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/common/file.h"
#include "server/common/log.h"
#include "worker/build/speed.h"

// An engine that notes every start beside itself.
static const char engine[] = "#!/bin/sh\necho run >>\"${0%/*}/runs\"\n"
                             "echo 'Nodes searched  : 1000'\necho 'Nodes/second    : 500000'\n";
static const char *const args[] = {"bench", NULL};

typedef struct Yard {
    Sandbox sandbox;
    BuildContext context;
    Build build;
} Yard;

static char *inside(const Yard *yard, const char *name) {
    return xasprintf("%s/%s", yard->build.folder, name);
}

static void write_text(const char *path, const char *text) {
    Error err;
    assert_true(file_write_durable(path, text, strlen(text), &err));
}

static int open_yard(void **state) {
    static Yard yard;
    char folder[] = "/tmp/patchmate-speed-XXXXXX";
    if (!mkdtemp(folder))
        return -1;
    yard = (Yard){.build.folder = xstrdup(folder)};
    yard.context = (BuildContext){.sandbox = &yard.sandbox, .cores = 1};
    char *path scope(free_ptr) = inside(&yard, "engine");
    write_text(path, engine);
    *state = &yard;
    return chmod(path, 0755);
}

static int close_yard(void **state) {
    Error err;
    Yard *yard = *state;
    bool gone = folder_remove(yard->build.folder, &err);
    build_release(&yard->build);
    return gone ? 0 : -1;
}

static void measure(const Yard *yard, int slots) {
    Error err;
    double speed = 0;
    assert_int_equal(speed_measure(&yard->context, &yard->build, args, slots, 0, &speed, &err),
                     RUN_DONE);
    assert_true(speed == 500000);
}

// Starts of the engine since the last call.
static int starts(const Yard *yard) {
    Error err;
    char *path scope(free_ptr) = inside(yard, "runs");
    char *text scope(free_ptr) = file_read(path, 1 << 20, NULL, &err);
    int count = 0;
    for (const char *c = text ? text : ""; *c; c++)
        count += *c == '\n';
    unlink(path);
    return count;
}

static void all_slots_are_busy_while_speed_is_measured(void **state) {
    measure(*state, 3);
    int count = starts(*state);
    assert_true(count >= 3 && count % 3 == 0);
}

static void each_task_measures_anew(void **state) {
    measure(*state, 1);
    starts(*state);
    measure(*state, 1);
    assert_true(starts(*state) > 0);
}

static void a_bench_without_a_count_is_a_failure(void **state) {
    const Yard *yard = *state;
    Error err;
    double speed;
    char *path scope(free_ptr) = inside(yard, "engine");
    write_text(path, "#!/bin/sh\necho hello\n");
    chmod(path, 0755);
    assert_int_equal(speed_measure(&yard->context, &yard->build, args, 1, 0, &speed, &err),
                     RUN_FAILED);
}

int main(void) {
#define TEST(test) cmocka_unit_test_setup_teardown(test, open_yard, close_yard)
    const struct CMUnitTest tests[] = {
        TEST(all_slots_are_busy_while_speed_is_measured),
        TEST(each_task_measures_anew),
        TEST(a_bench_without_a_count_is_a_failure),
    };
    log_set_level(LOG_LEVEL_WARN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

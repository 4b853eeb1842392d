// The task document: the example of API.md is taken, every way to make it harmful is refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "../../server/common/str.h"
#include "../../worker/task.h"
#include "../kit/worker_kit.h"

static void the_example_of_the_api_is_a_task(void **state) {
    (void)state;
    json_auto_t *root = kit_task();
    Task task;
    Error err;
    if (!task_read(&task, root, &err))
        fail_msg("%s", err.message);
    assert_int_equal(task.id, 311);
    assert_int_equal(task.first_pair, 640);
    assert_int_equal(task.pairs, 32);
    assert_int_equal(task.batch_pairs, 16);
    assert_int_equal(task.adjudication.resign_score, 600);
    assert_int_equal(task.adjudication.draw_move, 34);
    assert_int_equal(task.sides[SIDE_NEW].bench, 0);
    assert_int_equal(task.sides[SIDE_BASE].bench, 2345678);
    assert_string_equal(task.sides[SIDE_NEW].options[0].name, "Hash");
    assert_string_equal(task.build.bench_args[0], "bench");
    assert_null(task.build.bench_args[1]);
    assert_string_equal(task.build.files[0].path, "nets/small.nnue");
    assert_true(task.has_scale);
    assert_int_equal(task.margin_ms, 200);
    assert_string_equal(task.openings[31].moves, "e2e4 c7c5");
    task_release(&task);
}

static void members_of_a_later_protocol_are_ignored(void **state) {
    (void)state;
    json_auto_t *root = kit_task();
    json_object_set_new(root, "later", json_true());
    json_object_set_new(json_object_get(root, "build"), "later", json_true());
    Task task;
    Error err;
    assert_true(task_read(&task, root, &err));
    task_release(&task);
}

static void a_null_scale_leaves_the_clock_alone(void **state) {
    (void)state;
    json_auto_t *root = kit_task();
    json_object_set_new(root, "scale", json_null());
    Task task;
    Error err;
    assert_true(task_read(&task, root, &err));
    assert_false(task.has_scale);
    assert_null(task.reference_snapshot);
    task_release(&task);
}

// `path` names members from the top, separated by dots; numbers are places in lists.
static void set_at(json_t *root, const char *path, json_t *value) {
    char part[64];
    for (;;) {
        size_t n = strcspn(path, ".");
        snprintf(part, sizeof part, "%.*s", (int)n, path);
        if (!path[n])
            break;
        long index;
        root = parse_long(part, 0, 1000, &index) ? json_array_get(root, (size_t)index)
                                                 : json_object_get(root, part);
        assert_non_null(root);
        path += n + 1;
    }
    json_object_set_new(root, part, value);
}

static void harmful_and_senseless_tasks_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *path, *json;
    } cases[] = {
        {"id", "0"},
        {"id", "\"7\""},
        {"pairs", "0"},
        {"pairs", "31"},
        {"pairs", "33"},
        {"first_pair", "-1"},
        {"test.batch_pairs", "0"},
        {"test.threads", "0"},
        {"test.variant", "\"atomic\""},
        {"test.adjudication.draw_count", "-1"},
        {"sides.new.snapshot", "\"../../etc/passwd\""},
        {"sides.new.snapshot", "\"\""},
        {"sides.base.bench", "-5"},
        {"sides.new.tc", "\"soon\""},
        {"sides.new.options.Hash", "\"16\\nquit\""},
        {"sides.new.options.Hash", "16"},
        {"build.directory", "\"/etc\""},
        {"build.directory", "\"..\""},
        {"build.directory", "\"a/../..\""},
        {"build.binary", "\"../anvil\""},
        {"build.binary", "\"-rf\""},
        {"build.binary", "\"a//b\""},
        {"build.binary", "\"a/\""},
        {"build.command", "\"\""},
        {"build.env", "{\"A=B\":\"1\"}"},
        {"build.env", "{\"A\":1}"},
        {"build.env", "[]"},
        {"build.bench_args", "[1]"},
        {"build.files.0.path", "\"../x\""},
        {"build.files.0.path", "\"/x\""},
        {"build.files.0.blob", "\"x\""},
        {"scale.reference_speed", "0"},
        {"scale.min", "0"},
        {"scale.max", "0.01"},
        {"scale.margin_ms", "-1"},
        {"scale.reference_snapshot", "\"x\""},
        {"openings", "[]"},
        {"openings.0.fen", "\"a\\nquit\""},
        {"openings.0.moves", "7"},
        {"next.seq", "3"},
        {"next.seq", "-1"},
        {"next.options", "{\"a\":\"1\"}"},
        {"next", "null"},
        {"sides", "null"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_auto_t *root = kit_task();
        set_at(root, cases[i].path, json_loads(cases[i].json, JSON_DECODE_ANY, NULL));
        Task task;
        Error err = {0};
        if (task_read(&task, root, &err))
            fail_msg("%s = %s was taken", cases[i].path, cases[i].json);
        assert_true(*err.message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_of_the_api_is_a_task),
        cmocka_unit_test(members_of_a_later_protocol_are_ignored),
        cmocka_unit_test(a_null_scale_leaves_the_clock_alone),
        cmocka_unit_test(harmful_and_senseless_tasks_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

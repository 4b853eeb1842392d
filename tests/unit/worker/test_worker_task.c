// The task document: the example of API.md is taken, every way to make it harmful is refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "server/common/str.h"
#include "tests/kit/worker_kit.h"
#include "worker/api/json_values.h"
#include "worker/task/task.h"

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
    const TaskBuild *new = &task.sides[SIDE_NEW].build, *base = &task.sides[SIDE_BASE].build;
    assert_string_equal(new->bench_args[0], "bench");
    assert_null(new->bench_args[1]);
    assert_int_equal(new->files.count, 1);
    assert_string_equal(new->files.items[0].path + strlen("nets/"), new->files.items[0].blob);
    assert_int_equal(base->files.count, 0);
    assert_true(task.has_scale);
    assert_string_equal(task.reference.engine, "anvil");
    assert_string_equal(task.reference.build.command, "make EXE=anvil");
    assert_int_equal(task.reference.build.files.count, 0);
    assert_string_equal(task.sides[SIDE_NEW].name, "new");
    assert_string_equal(task.sides[SIDE_BASE].name, "base");
    assert_string_equal(task.sides[SIDE_BASE].engine, "anvil");
    assert_int_equal(task.sides[SIDE_BASE].threads, 1);
    assert_int_equal(task.sides[SIDE_BASE].limit.margin_ms, 5);
    assert_string_equal(task.openings[31].moves, "e2e4 c7c5");
    assert_true(task.play_on[1] && !task.play_on[0] && !task.play_on[63]);
    task_release(&task);
}

static void members_of_a_later_protocol_are_ignored(void **state) {
    (void)state;
    json_auto_t *root = kit_task();
    json_object_set_new(root, "later", json_true());
    json_object_set_new(kit_side(root, SIDE_NEW), "later", json_true());
    Task task;
    Error err;
    assert_true(task_read(&task, root, &err));
    task_release(&task);
}

static json_t *file_json(const char *path) {
    return json_pack("{s:s, s:s}", "blob",
                     "fd61a03af4f77d870fc21e05e7e80678095c92d808cfb3b5c279ee04c74aca13", "path",
                     path);
}

static json_t *build_files(json_t *owner) {
    return json_object_get(json_object_get(owner, "build"), "files");
}

static void a_build_gets_its_own_files_and_those_beside_it(void **state) {
    (void)state;
    json_auto_t *root = kit_task();
    json_t *scale = json_object_get(root, "scale");
    json_array_append_new(build_files(kit_side(root, SIDE_BASE)), file_json("book.bin"));
    json_array_append_new(build_files(scale), file_json("table.bin"));
    json_object_set_new(kit_side(root, SIDE_NEW), "files", json_null());
    json_object_set_new(kit_side(root, SIDE_BASE), "files",
                        json_pack("[o]", file_json("nets/old")));
    json_object_del(scale, "reference_files");
    Task task;
    Error err;
    assert_true(task_read(&task, root, &err));
    const TaskFiles *base = &task.sides[SIDE_BASE].build.files;
    assert_int_equal(task.sides[SIDE_NEW].build.files.count, 0);
    assert_int_equal(base->count, 2);
    assert_string_equal(base->items[0].path, "book.bin");
    assert_string_equal(base->items[1].path, "nets/old");
    assert_int_equal(task.reference.build.files.count, 1);
    assert_string_equal(task.reference.build.files.items[0].path, "table.bin");
    task_release(&task);
}

static void more_files_than_a_build_takes_are_refused_wherever_they_stand(void **state) {
    (void)state;
    json_auto_t *root = kit_task();
    for (int i = 0; i < RECIPE_FILES_MAX; i++) {
        char *path scope(free_ptr) = xasprintf("file%d", i);
        json_array_append_new(build_files(kit_side(root, SIDE_NEW)), file_json(path));
    }
    Task task;
    Error err = {0};
    assert_false(task_read(&task, root, &err)); // the example's new side has one beside its build
    assert_non_null(strstr(err.message, "too many files"));
    json_object_del(kit_side(root, SIDE_NEW), "files");
    assert_true(task_read(&task, root, &err));
    task_release(&task);
}

static json_t *files_json(int count) {
    json_t *files = json_array();
    for (int i = 0; i < count; i++) {
        char *path scope(free_ptr) = xasprintf("%0200d", i);
        json_array_append_new(files, file_json(path));
    }
    return files;
}

static json_t *greatest_build(void) {
    char *command scope(free_ptr) = xasprintf("%04000d", 0);
    char *path scope(free_ptr) = xasprintf("%0200d", 0);
    json_t *env = json_object(), *args = json_array();
    for (int i = 0; i < 64; i++) {
        char *name scope(free_ptr) = xasprintf("%0100d", i);
        json_object_set_new(env, name, json_string(path));
    }
    for (int i = 0; i < 15; i++)
        json_array_append_new(args, json_string(path));
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:[]}", "directory", path, "command", command,
                     "binary", path, "env", env, "bench_args", args, "files");
}

// With as much of everything as a task may have.
static json_t *greatest_task(void) {
    char value[1000] = "";
    char *fen scope(free_ptr) = xasprintf("%0*d", TASK_FEN_MAX, 0);
    char *moves scope(free_ptr) = xasprintf("%0*d", TASK_MOVES_MAX, 0);
    json_t *root = kit_task(), *openings = json_array();
    memset(value, ',', sizeof value - 1);
    json_object_set_new(root, "pairs", json_integer(TASK_PAIRS_MAX));
    for (int i = 0; i < TASK_PAIRS_MAX; i++)
        json_array_append_new(openings, json_pack("{s:s, s:s}", "fen", fen, "moves", moves));
    json_object_set_new(root, "openings", openings);
    for (int side = 0; side < 2; side++) {
        json_t *options = json_object();
        for (int i = 0; i < TASK_OPTIONS_MAX; i++) {
            char *name scope(free_ptr) = xasprintf("%0100d", i);
            json_object_set_new(options, name, json_string(value));
        }
        json_t *object = kit_side(root, side);
        json_object_set_new(object, "options", options);
        json_object_set_new(object, "build", greatest_build());
        json_object_set_new(object, "files", files_json(RECIPE_FILES_MAX));
    }
    json_t *scale = json_object_get(root, "scale");
    json_object_set_new(scale, "build", greatest_build());
    json_object_set_new(scale, "reference_files", files_json(RECIPE_FILES_MAX));
    return root;
}

static void the_greatest_task_is_within_the_limits_of_a_reply(void **state) {
    (void)state;
    json_auto_t *root = greatest_task();
    char *text scope(free_ptr) = json_dumps(root, 0);
    Task task;
    Error err;
    if (!task_read(&task, root, &err))
        fail_msg("%s", err.message);
    task_release(&task);
    assert_true(strlen(text) <= TASK_BYTES_MAX);
    assert_true(json_values_most(text, strlen(text)) <= TASK_VALUES_MAX);
}

// An upper bound: a mark may open an empty list.
static void values_are_counted_before_a_text_is_parsed(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t most;
    } texts[] = {{"", 1},
                 {"7", 1},
                 {"[]", 2},
                 {"[1,2]", 3},
                 {"{\"a\":[{},{}]}", 6},
                 {"\"[,{\"", 1},
                 {"[\"a\\\",[\",2]", 3},
                 {"[\"a\\\\\",[2]]", 4},
                 {"[\"open,", 2},
                 {"[\"open\\", 2}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(json_values_most(texts[i].text, strlen(texts[i].text)), texts[i].most);
}

static void a_null_scale_leaves_the_clock_alone(void **state) {
    (void)state;
    json_auto_t *root = kit_task();
    json_object_set_new(root, "scale", json_null());
    Task task;
    Error err;
    assert_true(task_read(&task, root, &err));
    assert_false(task.has_scale);
    assert_null(task.reference.snapshot);
    task_release(&task);
}

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
    {"test.variant", "\"atomic\""},
    {"test.adjudication.draw_count", "-1"},
    {"sides.0.snapshot", "\"../../etc/passwd\""},
    {"sides.0.snapshot", "\"\""},
    {"sides.1.bench", "-5"},
    {"sides.0.tc", "\"soon\""},
    {"sides.0.options.Hash", "\"16\\nquit\""},
    {"sides.0.options.Hash", "16"},
    {"sides.1.build.directory", "\"/etc\""},
    {"sides.1.build.directory", "\"..\""},
    {"sides.1.build.directory", "\"a/../..\""},
    {"sides.1.build.binary", "\"../anvil\""},
    {"sides.1.build.binary", "\"-rf\""},
    {"sides.1.build.binary", "\"a//b\""},
    {"sides.1.build.binary", "\"a/\""},
    {"sides.1.build.command", "\"\""},
    {"sides.1.build.env", "{\"A=B\":\"1\"}"},
    {"sides.1.build.env", "{\"A\":1}"},
    {"sides.1.build.env", "[]"},
    {"sides.1.build.bench_args", "[1]"},
    {"sides.1.build.files", "{}"},
    {"sides.0.files", "\"x\""},
    {"sides.0.files.0.path", "\"../x\""},
    {"sides.0.files.0.path", "\"nets/../../x\""},
    {"sides.0.files.0.path", "\"/x\""},
    {"sides.0.files.0.path", "\".\""},
    {"sides.0.files.0.path", "\"nets/.\""},
    {"sides.0.files.0.path", "\"./x\""},
    {"sides.0.files.0.path", "\"nets/\""},
    {"sides.0.files.0.path", "\"-o\""},
    {"sides.0.files.0.path", "\"a\\nb\""},
    {"sides.0.files.0.path", "\"a\\\\b\""},
    {"sides.0.files.0.path", "7"},
    {"sides.0.files.0.blob", "\"x\""},
    {"sides.1.files", "[{\"path\":\"x\"}]"},
    {"scale.reference_files", "[1]"},
    {"sides.0.build.files",
     "[{\"blob\":\"fd61a03af4f77d870fc21e05e7e80678095c92d808cfb3b5c279ee04c74aca13\","
     "\"path\":\"nets/fd61a03af4f77d870fc21e05e7e80678095c92d808cfb3b5c279ee04c74aca13\"}]"},
    {"scale.reference_speed", "0"},
    {"scale.min", "0"},
    {"scale.max", "0.01"},
    {"scale.reference_snapshot", "\"x\""},
    {"scale.build", "null"},
    {"scale.build.directory", "\"..\""},
    {"scale.build.binary", "\"/bin/sh\""},
    {"scale.build.env", "[]"},
    {"scale.build.files", "[1]"},
    {"play_on", "[64]"},
    {"play_on", "[-1]"},
    {"play_on", "[\"1\"]"},
    {"openings", "[]"},
    {"openings.0.fen", "\"a\\nquit\""},
    {"openings.0.moves", "7"},
    {"next.seq", "3"},
    {"next.seq", "-1"},
    {"next.options", "{\"a\":\"1\"}"},
    {"next", "null"},
    {"sides", "null"},
};

static void harmful_and_senseless_tasks_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_auto_t *root = kit_task();
        kit_set_at(root, cases[i].path, json_loads(cases[i].json, JSON_DECODE_ANY, NULL));
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
        cmocka_unit_test(a_build_gets_its_own_files_and_those_beside_it),
        cmocka_unit_test(more_files_than_a_build_takes_are_refused_wherever_they_stand),
        cmocka_unit_test(the_greatest_task_is_within_the_limits_of_a_reply),
        cmocka_unit_test(values_are_counted_before_a_text_is_parsed),
        cmocka_unit_test(a_null_scale_leaves_the_clock_alone),
        cmocka_unit_test(harmful_and_senseless_tasks_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

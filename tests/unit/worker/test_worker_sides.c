// The sides of a task: each has an engine, a clock and a build of its own. A task is refused unless
// it has two sides with different names.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "server/common/str.h"
#include "tests/kit/worker_kit.h"
#include "worker/task/demand.h"
#include "worker/task/task.h"

// Two sides that share nothing: each keeps what it has.
static void each_side_has_an_engine_a_clock_and_a_build_of_its_own(void **state) {
    (void)state;
    json_auto_t *root = kit_task();
    json_object_update_new(
        kit_side(root, SIDE_BASE),
        json_pack("{s:s, s:s, s:s, s:i, s:i, s:{s:s, s:s, s:s, s:{s:s}, s:[s, s], s:[]}}", "name",
                  "old-rival_2", "engine", "mate", "tc", "40/60+0.5", "threads", 4, "margin_ms",
                  250, "build", "directory", "src", "command", "make build", "binary", "out/mate",
                  "env", "CC", "clang", "bench_args", "bench", "16", "files"));
    json_object_set_new(kit_side(root, SIDE_NEW), "margin_ms", json_integer(0));
    Task task;
    Error err;
    if (!task_read(&task, root, &err))
        fail_msg("%s", err.message);
    const TaskSide *new = &task.sides[SIDE_NEW], *base = &task.sides[SIDE_BASE];
    assert_string_equal(new->name, "new");
    assert_string_equal(new->engine, "anvil");
    assert_string_equal(new->build.command, "make EXE=anvil");
    assert_int_equal(new->threads, 1);
    assert_int_equal(new->limit.base_ms, 10000);
    assert_int_equal(new->limit.margin_ms, 0);
    assert_string_equal(base->name, "old-rival_2");
    assert_string_equal(base->engine, "mate");
    assert_string_equal(base->build.directory, "src");
    assert_string_equal(base->build.command, "make build");
    assert_string_equal(base->build.binary, "out/mate");
    assert_string_equal(json_string_value(json_object_get(base->build.env, "CC")), "clang");
    assert_string_equal(base->build.bench_args[1], "16");
    assert_int_equal(base->threads, 4);
    assert_int_equal(base->limit.base_ms, 60000);
    assert_int_equal(base->limit.moves_to_go, 40);
    assert_int_equal(base->limit.margin_ms, 250);
    assert_string_equal(task.engine, "anvil");
    assert_string_equal(task.reference.build.command, "make EXE=anvil");
    task_release(&task);
}

static void the_demand_counts_each_side_for_itself(void **state) {
    (void)state;
    json_auto_t *root = kit_task();
    json_object_set_new(kit_side(root, SIDE_BASE), "threads", json_integer(4));
    json_object_set_new(kit_side(root, SIDE_BASE), "options", json_pack("{s:s}", "Hash", "64"));
    Task task;
    Error err;
    const Store empty = {.root = "/nonexistent"};
    assert_true(task_read(&task, root, &err));
    GameMemory demand = demand_of_task(&task, &empty);
    assert_int_equal(demand.threads[SIDE_NEW], 1);
    assert_int_equal(demand.threads[SIDE_BASE], 4);
    assert_int_equal(demand.hash_mib[SIDE_NEW], 16);
    assert_int_equal(demand.hash_mib[SIDE_BASE], 64);
    assert_int_equal(demand_slots(&demand, 9, 4096), 2);
    assert_true(demand_fits(&demand, 4, 4096, &err));
    assert_false(demand_fits(&demand, 3, 4096, &err));
    assert_non_null(strstr(err.message, "a game needs 4 CPUs, 3 are offered"));
    task_release(&task);
}

static void refuse_task(json_t *root, const char *what, const char *words) {
    Task task;
    Error err = {0};
    if (task_read(&task, root, &err))
        fail_msg("%s was taken", what);
    if (!strstr(err.message, words))
        fail_msg("%s: %s", what, err.message);
}

static void a_match_has_exactly_two_sides(void **state) {
    (void)state;
    json_auto_t *root = kit_task();
    json_t *sides = json_object_get(root, "sides");
    json_array_append_new(sides, json_deep_copy(json_array_get(sides, 0)));
    json_object_set_new(json_array_get(sides, 2), "name", json_string("third"));
    refuse_task(root, "a third side", "number of sides is 3, not 2");
    json_array_remove(sides, 2);
    json_array_set_new(sides, 1, json_integer(7));
    refuse_task(root, "a number", "a side that lacks members");
    json_array_remove(sides, 1);
    refuse_task(root, "one side", "number of sides is 1, not 2");
    json_array_clear(sides);
    refuse_task(root, "no side", "number of sides is 0, not 2");
    json_object_set_new(root, "sides", json_pack("{s:{}, s:{}}", "new", "base"));
    refuse_task(root, "an object", "sides that are no list");
}

#define NAME_RULE "a side whose name is not 1 to 32 characters of a-z, 0-9, _ and -"

// NULL: the member is taken away. The sentence says what is wrong.
static const struct {
    const char *path, *json, *words;
} wrong_sides[] = {
    {"sides.1.name", "\"new\"", "two sides of one name"},
    {"sides.0.name", "\"\"", NAME_RULE},
    {"sides.0.name", "\"New\"", NAME_RULE},
    {"sides.0.name", "\"new side\"", NAME_RULE},
    {"sides.0.name", "\"n\\u00e9w\"", NAME_RULE},
    {"sides.0.name", "\"new\\n\"", NAME_RULE},
    {"sides.0.name", "\"../new\"", NAME_RULE},
    {"sides.1.name", "\"a23456789012345678901234567890123\"", NAME_RULE},
    {"sides.0.name", NULL, "a side that lacks members"},
    {"sides.0.name", "7", "a side that lacks members"},
    {"sides.0.engine", NULL, "a side that lacks members"},
    {"sides.1.build", NULL, "a side that lacks members"},
    {"sides.1.build", "null", "a build that lacks members"},
    {"sides.1.build.command", NULL, "a build that lacks members"},
    {"sides.0.threads", NULL, "a side that lacks its threads or its margin"},
    {"sides.0.threads", "\"1\"", "a side that lacks its threads or its margin"},
    {"sides.0.threads", "0", "a side of absurd threads"},
    {"sides.1.threads", "-1", "a side of absurd threads"},
    {"sides.1.threads", "1025", "a side of absurd threads"},
    {"sides.1.threads", "4294967297", "a side of absurd threads"},
    {"sides.1.margin_ms", NULL, "a side that lacks its threads or its margin"},
    {"sides.1.margin_ms", "-1", "a side with an absurd margin"},
    {"sides.0.margin_ms", "251", "a side with an absurd margin"},
    {"sides.0.margin_ms", "4294967296", "a side with an absurd margin"},
};

static void a_wrong_side_is_refused_with_a_sentence(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wrong_sides / sizeof *wrong_sides; i++) {
        const char *json = wrong_sides[i].json;
        json_auto_t *root = kit_task();
        kit_set_at(root, wrong_sides[i].path,
                   json ? json_loads(json, JSON_DECODE_ANY, NULL) : NULL);
        char *what scope(free_ptr) = xasprintf("%s = %s", wrong_sides[i].path, json ? json : "");
        refuse_task(root, what, wrong_sides[i].words);
    }
}

static void names_of_sides_have_1_to_32_characters(void **state) {
    (void)state;
    static const char *const names[] = {"x", "0", "-_-", "a2345678901234567890123456789012"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        json_auto_t *root = kit_task();
        json_object_set_new(kit_side(root, SIDE_BASE), "name", json_string(names[i]));
        Task task;
        Error err;
        assert_true(task_read(&task, root, &err));
        assert_string_equal(task.sides[SIDE_BASE].name, names[i]);
        task_release(&task);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_side_has_an_engine_a_clock_and_a_build_of_its_own),
        cmocka_unit_test(the_demand_counts_each_side_for_itself),
        cmocka_unit_test(a_match_has_exactly_two_sides),
        cmocka_unit_test(a_wrong_side_is_refused_with_a_sentence),
        cmocka_unit_test(names_of_sides_have_1_to_32_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

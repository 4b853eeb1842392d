// The conditions that a batch reports: its clock and its speed must be possible for its task.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "tests/kit/ledger_kit.h"

static LedgerKit kit;
static BatchReply posted;
static json_t *draws;
static int64_t task;

static int open_task(void **state) {
    (void)state;
    draws = kit_result("2222");
    task = kit_open_task(&kit);
    return task > 0 ? 0 : -1;
}

static int close_kit(void **state) {
    (void)state;
    json_decref(draws);
    kit_close(&kit);
    return 0;
}

static bool post(int64_t seq, const char *tc, double speed) {
    Batch batch = kit_batch(task, 1, seq, draws);
    batch.tc = tc;
    batch.speed = speed;
    return ledger_batch(&kit.turn, &batch, &posted, &kit.err);
}

static void refused(const char *code, const char *tc, double speed) {
    if (post(0, tc, speed))
        fail_msg("%s at %.0f nodes/s was taken", tc, speed);
    assert_string_equal(kit.err.code, code);
    assert_int_equal(kit.err.status, 422);
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM batches"), 0);
}

static void set_clocks(const char *new_tc, const char *base_tc) {
    kit_sql(&kit, "UPDATE sides SET tc = CASE side WHEN 'new' THEN '%s' ELSE '%s' END", new_tc,
            base_tc);
}

// ---- clocks -------------------------------------------------------------------------------------

static void a_batch_at_another_clock_than_that_of_its_task_is_refused(void **state) {
    (void)state;
    static const char *const others[] = {"1000+99",      "10+0.1",    "9.999+0.100",
                                         "10.000+0.101", "nodes=100", "40/10.000+0.100",
                                         "st=0.100",     "",          "10.000+0.100 "};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        refused("bad_clock", others[i], 1e6);
    assert_true(post(0, "10.000+0.100", 1e6));
}

static void the_clock_follows_the_speed(void **state) {
    (void)state;
    refused("bad_clock", "10.000+0.100", 5e5);
    assert_string_equal(kit.err.message, "this task is played at 20.000+0.200, which is 10+0.1 for "
                                         "500000 nodes/s, and not at 10.000+0.100");
    assert_true(post(0, "20.000+0.200", 5e5));
}

static void a_fast_machine_gets_no_less_than_the_least_clock(void **state) {
    (void)state;
    refused("bad_clock", "0.100+0.001", 1e8);
    assert_true(post(0, "1.000+0.010", 1e8));
}

static void a_machine_that_is_too_slow_for_the_test_is_refused(void **state) {
    (void)state;
    refused("bad_speed", "100.000+1.000", 99999);
    assert_true(post(0, "100.000+1.000", 100000));
}

static void nodes_and_depth_are_exactly_those_of_the_test(void **state) {
    (void)state;
    set_clocks("nodes=20000", "nodes=20000");
    refused("bad_clock", "nodes=40000", 5e5);
    refused("bad_clock", "10.000+0.100", 1e6);
    refused("bad_speed", "nodes=20000", 0);
    assert_true(post(0, "nodes=20000", 5e5));
    set_clocks("depth=8", "depth=8");
    assert_true(post(1, "depth=8", 5e5));
}

// The clock of the base follows the speed, too, so the speed must be known.
static void a_clock_of_the_base_alone_needs_a_speed(void **state) {
    (void)state;
    set_clocks("nodes=20000", "10+0.1");
    refused("bad_speed", "nodes=20000", 0);
    refused("bad_speed", "nodes=20000", 1000);
    assert_true(post(0, "nodes=20000", 5e5));
}

// ---- speeds -------------------------------------------------------------------------------------

static void a_speed_that_no_machine_has_is_refused(void **state) {
    (void)state;
    static const double speeds[] = {0, -1, -0.0, 0.5, 1e12, 1e300};
    for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
        refused("bad_speed", "10.000+0.100", speeds[i]);
}

// Otherwise a machine could choose its clock after it has seen its results.
static void a_task_has_one_speed(void **state) {
    (void)state;
    assert_true(post(0, "10.000+0.100", 1e6));
    assert_false(post(1, "20.000+0.200", 5e5));
    assert_string_equal(kit.err.code, "bad_speed");
    assert_string_equal(kit.err.message, "the speed of a task is measured once: the first batch "
                                         "said 1000000 nodes/s, this one says 500000");
    assert_true(post(1, "10.000+0.100", 1e6));
}

static void a_reference_that_changes_meanwhile_is_that_of_later_tasks(void **state) {
    (void)state;
    kit_sql(&kit, "UPDATE engines SET reference_speed = 2000000");
    refused("bad_clock", "20.000+0.200", 1e6);
    assert_true(post(0, "10.000+0.100", 1e6));
    task = kit_claim(&kit, 1, 4, 0);
    assert_true(task > 0);
    assert_true(post(0, "20.000+0.200", 1e6));
}

// ---- pace ---------------------------------------------------------------------------------------

static bool post_thought(int64_t seq, int64_t thought_s) {
    Batch batch = kit_batch(task, 1, seq, draws);
    batch.thought = thought_s * 1000;
    return ledger_batch(&kit.turn, &batch, &posted, &kit.err);
}

// The task has four slots.
static void engines_cannot_have_thought_longer_than_their_slots_existed(void **state) {
    (void)state;
    kit.turn.now += 100;
    assert_false(post_thought(0, 421));
    assert_string_equal(kit.err.code, "bad_pace");
    assert_int_equal(kit.err.status, 422);
    assert_string_equal(kit.err.message,
                        "the engines of this task thought for 421.0 s, but 4 slots "
                        "had only 100.0 s each since the claim");
    assert_true(post_thought(0, 419));
}

static void the_pace_is_that_of_the_whole_task(void **state) {
    (void)state;
    kit.turn.now += 100;
    assert_true(post_thought(0, 300));
    assert_false(post_thought(1, 200));
    assert_string_equal(kit.err.code, "bad_pace");
    kit.turn.now += 20; // the same batch is possible by then
    assert_true(post_thought(1, 200));
}

// Batches that waited for a server come in one moment, perhaps after their task has expired.
static void batches_that_come_late_and_at_once_are_in_time(void **state) {
    (void)state;
    kit.turn.now += 5 * 3600;
    ledger_expire(&kit.turn);
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM tasks WHERE state = 'expired'"), 1);
    assert_true(post_thought(0, 400));
    assert_true(post_thought(1, 400));
    assert_string_equal(posted.uncounted, "late");
}

static void quick_games_are_never_suspect(void **state) {
    (void)state;
    assert_true(post_thought(0, 0) && posted.counted);
    assert_true(post_thought(1, 0) && posted.counted);
}

static void a_game_of_more_threads_takes_more_cores(void **state) {
    (void)state;
    kit_sql(&kit, "UPDATE sides SET threads = 3 WHERE side = 'base'"); // a slot of the four cores
    kit.turn.now += 100;
    assert_false(post_thought(0, 106));
    assert_true(post_thought(0, 104));
}

static void a_batch_with_another_time_is_another_batch(void **state) {
    (void)state;
    kit.turn.now += 100;
    assert_true(post_thought(0, 100));
    assert_true(post_thought(0, 100) && posted.repeat);
    assert_false(post_thought(0, 101));
    assert_string_equal(kit.err.code, "batch_conflict");
}

#define WITH_TASK(test) cmocka_unit_test_setup_teardown(test, open_task, close_kit)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_TASK(a_batch_at_another_clock_than_that_of_its_task_is_refused),
        WITH_TASK(the_clock_follows_the_speed),
        WITH_TASK(a_fast_machine_gets_no_less_than_the_least_clock),
        WITH_TASK(a_machine_that_is_too_slow_for_the_test_is_refused),
        WITH_TASK(nodes_and_depth_are_exactly_those_of_the_test),
        WITH_TASK(a_clock_of_the_base_alone_needs_a_speed),
        WITH_TASK(a_speed_that_no_machine_has_is_refused),
        WITH_TASK(a_task_has_one_speed),
        WITH_TASK(engines_cannot_have_thought_longer_than_their_slots_existed),
        WITH_TASK(the_pace_is_that_of_the_whole_task),
        WITH_TASK(batches_that_come_late_and_at_once_are_in_time),
        WITH_TASK(quick_games_are_never_suspect),
        WITH_TASK(a_game_of_more_threads_takes_more_cores),
        WITH_TASK(a_batch_with_another_time_is_another_batch),
        WITH_TASK(a_reference_that_changes_meanwhile_is_that_of_later_tasks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Times of tasks while the server is down, and when its clock is set.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/kit/ledger_kit.h"

static LedgerKit kit;
static int64_t task;

static int open_task(void **state) {
    (void)state;
    task = kit_open_task(&kit);
    return task > 0 ? 0 : -1;
}

static int close_kit(void **state) {
    (void)state;
    kit_close(&kit);
    return 0;
}

static bool state_is(const char *word) {
    char *text scope(free_ptr) =
        kit_text(&kit, "SELECT state FROM tasks WHERE id = %lld", (long long)task);
    return strcmp(text, word) == 0;
}

static bool post_thought(int64_t seq, int64_t thought_s) {
    BatchReply posted;
    json_auto_t *draws = kit_result("2222");
    Batch batch = kit_batch(task, 1, seq, draws);
    batch.thought = thought_s * 1000;
    return ledger_batch(&kit.turn, &batch, &posted, &kit.err);
}

static void leases_stand_still_while_the_server_is_down(void **state) {
    (void)state;
    assert_true(ledger_move_time(kit.db, 1000, &kit.err));
    kit.turn.now += 1020;
    ledger_expire(&kit.turn);
    assert_true(state_is("open"));
    kit.turn.now += 11;
    ledger_expire(&kit.turn);
    assert_true(state_is("expired"));
}

static void leases_follow_a_clock_that_is_set(void **state) {
    (void)state;
    ClockGap gap = {0};
    const double lease_until = kit_int(&kit, "SELECT lease_until FROM tasks");
    ledger_follow_clock(kit.db, &gap, 5000, 100); // the first look tells nothing
    ledger_follow_clock(kit.db, &gap, 5003, 101); // as clocks are adjusted
    assert_int_equal(kit_int(&kit, "SELECT lease_until FROM tasks"), (int64_t)lease_until);
    ledger_follow_clock(kit.db, &gap, 8604, 102); // an hour forward
    kit.turn.now += 3600;
    ledger_expire(&kit.turn);
    assert_true(state_is("open"));
    ledger_follow_clock(kit.db, &gap, 1405, 103); // two hours back
    kit.turn.now -= 7200;
    assert_int_equal(kit_int(&kit, "SELECT lease_until FROM tasks"), (int64_t)lease_until - 3600);
    kit.turn.now += 1000; // no lease is as long
    ledger_expire(&kit.turn);
    assert_true(state_is("expired"));
}

static void a_clock_that_is_set_costs_no_honest_batch(void **state) {
    (void)state;
    ClockGap gap = {0};
    ledger_follow_clock(kit.db, &gap, 1000, 1000);
    ledger_follow_clock(kit.db, &gap, 1100 - 3600, 1100); // back
    kit.turn.now += 100 - 3600;
    assert_false(post_thought(0, 421)); // four slots: what is too much stays too much
    assert_string_equal(kit.err.code, "bad_pace");
    assert_true(post_thought(0, 200));
    ledger_follow_clock(kit.db, &gap, 1100, 1200); // and forward
    kit.turn.now += 100 + 3600;
    assert_true(post_thought(1, 400));
}

int main(void) {
#define WITH_TASK(test) cmocka_unit_test_setup_teardown(test, open_task, close_kit)
    const struct CMUnitTest tests[] = {
        WITH_TASK(leases_stand_still_while_the_server_is_down),
        WITH_TASK(leases_follow_a_clock_that_is_set),
        WITH_TASK(a_clock_that_is_set_costs_no_honest_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// A machine whose bench was outvoted in a long test: it is excluded a part at a time, and the test
// gets no verdict meanwhile.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/kit/ledger_kit.h"

enum { MANY = 1200 }; // batches

static LedgerKit kit;
static BatchReply posted;
static TaskReply reply;
static Recount *kept;
static int64_t liar, honest;

// The batches of the liar, machine 3, are all won, those of machine 1 drawn.
static int open_long(void **state) {
    (void)state;
    honest = kit_open_task(&kit);
    kept = NULL;
    kit_sql(&kit, "UPDATE tests SET workload = 'fixed', pairs_max = 100000");
    liar = kit_claim(&kit, 3, 4, 0);
    kit_let_go(&kit);
    assert_true(kit_post(&kit, liar, 3, 0, "4444", &posted));
    kit_let_go(&kit);
    kit_sql(&kit, "UPDATE tasks SET due = 0 WHERE worker_id = 1");
    for (int i = 1, seq = 0; i < MANY; i++) {
        if (!kit_post(&kit, honest, 1, seq, "2222", &posted))
            return -1;
        seq = posted.task.continues ? seq + 1 : 0;
        if (!seq)
            honest = kit_claim(&kit, 1, 4, 0);
    }
    return 0;
}

static int close_kit(void **state) {
    (void)state;
    ledger_recount_free(kept);
    kit_close(&kit);
    return 0;
}

static int64_t bench(int64_t task, int64_t worker, int64_t nodes) {
    int64_t established;
    return ledger_bench(&kit.turn, task, worker, "new", nodes, &established, &reply, &kit.err)
               ? established
               : -1;
}

static void outvote(void) {
    int64_t third = kit_claim(&kit, 4, 4, 0);
    assert_int_equal(bench(honest, 1, 777), 0);
    assert_int_equal(bench(liar, 3, 1), 0);
    assert_int_equal(bench(third, 4, 777), 777);
}

static int64_t wins(void) {
    return kit_int(&kit, "SELECT counts ->> '$.wins' FROM tests");
}

static bool waits(void) {
    return kit_int(&kit, "SELECT count(*) FROM outvoted") == 1;
}

static void it_is_excluded_a_part_at_a_time(void **state) {
    (void)state;
    assert_int_equal(kit_int(&kit, "SELECT positions FROM tests"), MANY);
    outvote();
    assert_true(waits() && wins() == 8);
    assert_int_equal(kit_check(&kit), 0);
    for (int i = 0; i < 2; i++) {
        ledger_exclude_outvoted(&kit.turn, &kept);
        assert_true(waits() && kept && wins() == 8);
    }
    ledger_exclude_outvoted(&kit.turn, &kept);
    assert_true(!waits() && !kept && wins() == 0);
    assert_int_equal(kit_int(&kit, "SELECT sum(excluded) FROM log"), 1);
    assert_int_equal(kit_check(&kit), 0);
    ledger_exclude_outvoted(&kit.turn, &kept);
    assert_null(kept);
}

static void the_verdict_waits_for_it(void **state) {
    (void)state;
    outvote();
    kit_sql(&kit, "UPDATE tests SET pairs_max = %d", 4 * MANY + 4);
    int64_t seq = kit_int(&kit, "SELECT next_seq FROM tasks WHERE id = %lld", (long long)honest);
    assert_true(kit_post(&kit, honest, 1, seq, "2222", &posted) && posted.counted);
    assert_true(kit_result_is(&kit, ""));
    for (int i = 0; i < 3; i++)
        ledger_exclude_outvoted(&kit.turn, &kept);
    assert_false(waits());
    assert_true(kit_result_is(&kit, "")); // without its pairs the test is not long enough
    assert_int_equal(kit_check(&kit), 0);
}

// It begins anew, and finds that nothing is left to exclude.
static void a_maintainer_may_exclude_it_meanwhile(void **state) {
    (void)state;
    Excluded changed;
    outvote();
    kit_sql(&kit, "UPDATE tests SET pairs_max = %d", 4 * MANY - 4);
    ledger_exclude_outvoted(&kit.turn, &kept);
    assert_true(kit_exclude(&kit, 1, 3, "all", &changed));
    assert_true(kit_result_is(&kit, ""));
    ledger_exclude_outvoted(&kit.turn, &kept);
    assert_true(waits() && !kept);
    for (int i = 0; i < 3; i++)
        ledger_exclude_outvoted(&kit.turn, &kept);
    assert_false(waits());
    assert_true(kit_result_is(&kit, "completed"));
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM exclusions"), 1);
    assert_int_equal(kit_check(&kit), 0);
}

#define LONG(test) cmocka_unit_test_setup_teardown(test, open_long, close_kit)

int main(void) {
    const struct CMUnitTest tests[] = {
        LONG(it_is_excluded_a_part_at_a_time),
        LONG(the_verdict_waits_for_it),
        LONG(a_maintainer_may_exclude_it_meanwhile),
    };
    return cmocka_run_group_tests_name("ledger_outvoted", tests, NULL, NULL);
}

// The sides of a test: what a game takes from a machine, of memory, CPUs and time, and what may be
// said of a side. A machine gets a test only if a game of it fits the machine.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/kit/ledger_kit.h"

static LedgerKit kit;

static int open_active(void **state) {
    (void)state;
    if (!kit_open(&kit))
        return -1;
    kit_activate(&kit, 1);
    return 0;
}

static int close_kit(void **state) {
    (void)state;
    kit_close(&kit);
    return 0;
}

// A claim with this memory of the worker in MiB: the task, or 0.
static int64_t claim_with(int memory_mib, const char *key) {
    json_auto_t *speeds = json_object();
    Claim claim = {.worker = 1, .cores = 4, .memory_mib = memory_mib, .speeds = speeds};
    claim.key = key, claim.request_hash = "hash";
    assert_true(ledger_claim_begin(&kit.turn, &claim, &kit.err));
    int64_t task = ledger_claim(&kit.turn, &claim, &kit.err);
    assert_true(task >= 0);
    return task;
}

static void nets_and_hash_of_both_sides_need_memory(void **state) {
    (void)state;
    assert_int_equal(claim_with(64 + 159, "z"), 0);
    assert_int_not_equal(claim_with(64 + 160, "a"), 0);
    kit_turn(&kit);
    kit_sql(&kit, "UPDATE sides SET options = 'MyHash=1 hash=256' WHERE side = 'new'");
    assert_int_equal(claim_with(64 + 399, "b"), 0); // 240 MiB more
    assert_int_not_equal(claim_with(64 + 400, "c"), 0);
    kit_turn(&kit);
    kit_sql(&kit, "INSERT INTO blobs (sha256, size, kind, created) "
                  "VALUES (printf('%%064d', 7), 100 << 20, 'net', 1)");
    kit_sql(&kit, "UPDATE commits SET files = json_array(json_object('blob', printf('%%064d', 7), "
                  "'path', 'nets/7')) WHERE sha = (SELECT sha FROM sides WHERE side = 'new')");
    assert_int_equal(claim_with(64 + 499, "d"), 0);
    assert_int_not_equal(claim_with(64 + 500, "e"), 0);
    kit_turn(&kit);
    kit_sql(&kit, "UPDATE engines SET build = json_set(build, '$.files', json_array(json_object("
                  "'blob', printf('%%064d', 7), 'path', 'nets/7')))");
    assert_int_equal(claim_with(64 + 699, "f"), 0); // 100 MiB more for each side
    assert_int_not_equal(claim_with(64 + 700, "g"), 0);
}

static void each_side_has_threads_of_its_own(void **state) {
    (void)state;
    kit_sql(&kit, "UPDATE sides SET threads = 4 WHERE side = 'base'");
    assert_int_equal(claim_with(64 + 183, "a"), 0); // 24 MiB more, for the base alone
    assert_int_not_equal(claim_with(64 + 184, "b"), 0);
    kit_turn(&kit);
    kit_sql(&kit, "UPDATE sides SET threads = CASE side WHEN 'new' THEN 5 ELSE 1 END");
    assert_int_equal(claim_with(4096, "c"), 0); // the machine has 4 cores
}

// The lease of a new task with these clocks, in seconds.
static int64_t lease_with(const char *new_tc, const char *base_tc, const char *key) {
    kit_turn(&kit);
    kit_sql(&kit, "UPDATE tasks SET state = 'done', finished = 1");
    kit_sql(&kit, "UPDATE sides SET tc = CASE side WHEN 'new' THEN '%s' ELSE '%s' END", new_tc,
            base_tc);
    int64_t task = claim_with(4096, key);
    assert_int_not_equal(task, 0);
    return kit_int(&kit, "SELECT lease_s FROM tasks WHERE id = %lld", (long long)task);
}

static void a_game_takes_what_both_clocks_say(void **state) {
    (void)state;
    int64_t longer = lease_with("600+6", "600+6", "a"), shorter = lease_with("300+3", "300+3", "b"),
            odds = lease_with("300+3", "600+6", "c"), other = lease_with("600+6", "300+3", "d");
    assert_true(shorter < longer);
    assert_int_equal(2 * odds, shorter + longer);
    assert_int_equal(other, odds);
}

static void a_test_may_have_one_side(void **state) {
    (void)state;
    TaskReply reply;
    kit_sql(&kit, "DELETE FROM sides WHERE test_id = 1 AND side = 'base'");
    assert_int_equal(claim_with(64 + 79, "a"), 0); // half the memory of a match
    int64_t task = claim_with(64 + 80, "b"), bench = 0;
    assert_int_equal(kit_int(&kit, "SELECT against IS NULL FROM tasks"), 1);
    Failure failure = {.task = task, .worker = 1, .kind = "build", .side = "base", .message = "no"};
    assert_false(ledger_fail(&kit.turn, &failure, &kit.err));
    assert_string_equal(kit.err.message, "side is new");
    assert_false(ledger_bench(&kit.turn, task, 1, "base", 1000, &bench, &reply, &kit.err));
    assert_string_equal(kit.err.message, "side is new");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nets_and_hash_of_both_sides_need_memory, open_active,
                                        close_kit),
        cmocka_unit_test_setup_teardown(each_side_has_threads_of_its_own, open_active, close_kit),
        cmocka_unit_test_setup_teardown(a_game_takes_what_both_clocks_say, open_active, close_kit),
        cmocka_unit_test_setup_teardown(a_test_may_have_one_side, open_active, close_kit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

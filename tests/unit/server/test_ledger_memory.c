// Claims and memory: a machine gets a test only if a game of it fits the machine's memory.
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

// A claim with this memory of the worker in MiB; whether it gets a task.
static bool gets_task(int memory_mib, const char *key) {
    json_auto_t *speeds = json_object();
    Claim claim = {.worker = 1, .cores = 4, .memory_mib = memory_mib, .speeds = speeds};
    claim.key = key, claim.request_hash = "hash";
    assert_true(ledger_claim_begin(&kit.turn, &claim, &kit.err));
    int64_t task = ledger_claim(&kit.turn, &claim, &kit.err);
    assert_true(task >= 0);
    return task > 0;
}

static void nets_and_hash_of_both_sides_need_memory(void **state) {
    (void)state;
    assert_false(gets_task(64 + 159, "z"));
    assert_true(gets_task(64 + 160, "a"));
    kit_turn(&kit);
    kit_sql(&kit, "UPDATE sides SET options = 'MyHash=1 hash=256' WHERE side = 'new'");
    assert_false(gets_task(64 + 399, "b")); // 240 MiB more
    assert_true(gets_task(64 + 400, "c"));
    kit_turn(&kit);
    kit_sql(&kit, "INSERT INTO blobs (sha256, size, kind, created) "
                  "VALUES (printf('%%064d', 7), 100 << 20, 'net', 1)");
    kit_sql(&kit, "UPDATE commits SET files = json_array(json_object('blob', printf('%%064d', 7), "
                  "'path', 'nets/7')) WHERE sha = (SELECT sha FROM sides WHERE side = 'new')");
    assert_false(gets_task(64 + 499, "d"));
    assert_true(gets_task(64 + 500, "e"));
    kit_turn(&kit);
    kit_sql(&kit, "UPDATE engines SET build = json_set(build, '$.files', json_array(json_object("
                  "'blob', printf('%%064d', 7), 'path', 'nets/7')))");
    assert_false(gets_task(64 + 699, "f")); // 100 MiB more for each side
    assert_true(gets_task(64 + 700, "g"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nets_and_hash_of_both_sides_need_memory, open_active,
                                        close_kit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Which workers get a test whose units are not pairs: only those whose claim names its unit.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "server/ledger/workload.h"
#include "tests/kit/ledger_kit.h"

static LedgerKit kit;
static Workload other; // the fixed workload with units that are no pairs

static int open_kit(void **state) {
    (void)state;
    other = *workload_named("fixed");
    other.name = "units_of_another_sort";
    other.unit = UNIT_OTHER;
    workload_add(&other);
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

// Whether worker 1 gets a task of test 1, of this workload, with a claim that lists these units.
static bool gets_task(const char *workload, const char *units_json) {
    char key[32];
    kit_sql(&kit, "UPDATE tests SET workload = '%s'", workload);
    json_auto_t *speeds = json_object();
    json_auto_t *units = units_json ? json_loads(units_json, 0, NULL) : NULL;
    snprintf(key, sizeof key, "units-%lld", (long long)kit.keys++);
    Claim claim = {.worker = 1,
                   .cores = 4,
                   .memory_mib = 4096,
                   .speeds = speeds,
                   .key = key,
                   .request_hash = "hash",
                   .units = units};
    assert_true(ledger_claim_begin(&kit.turn, &claim, &kit.err));
    int64_t task = ledger_claim(&kit.turn, &claim, &kit.err);
    assert_true(task >= 0);
    kit_sql(&kit, "DELETE FROM tasks");
    return task > 0;
}

static void a_worker_that_names_no_unit_gets_pairs_alone(void **state) {
    (void)state;
    assert_true(gets_task("fixed", NULL));
    assert_false(gets_task(other.name, NULL));
}

static void a_worker_gets_the_units_that_it_names_and_no_other(void **state) {
    (void)state;
    assert_true(gets_task("sprt", "[\"pair\"]"));
    assert_false(gets_task(other.name, "[\"pair\"]"));
    assert_true(gets_task(other.name, "[\"pair\", \"other\"]"));
    assert_true(gets_task(other.name, "[\"other\"]"));
    assert_false(gets_task("fixed", "[\"other\"]"));
    assert_false(gets_task("fixed", "[]"));
}

static void a_workload_that_this_server_does_not_know_is_not_dealt(void **state) {
    (void)state;
    assert_false(gets_task("of a later server", "[\"pair\", \"other\"]"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_worker_that_names_no_unit_gets_pairs_alone, open_kit,
                                        close_kit),
        cmocka_unit_test_setup_teardown(a_worker_gets_the_units_that_it_names_and_no_other,
                                        open_kit, close_kit),
        cmocka_unit_test_setup_teardown(a_workload_that_this_server_does_not_know_is_not_dealt,
                                        open_kit, close_kit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

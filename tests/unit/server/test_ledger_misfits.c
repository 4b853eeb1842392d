// A machine whose speed in play does not fit: when it is judged, and what follows.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/kit/speed_kit.h"

// ---- ends of a task -----------------------------------------------------------------------------

// Machine 5 has played before there was anyone to compare it with, and has a task with one batch.
static int64_t begin_to_lie(void) {
    speed_play((Told){5, 0.5, 1, NULL});
    speed_others_play();
    int64_t task = speed_claim(5);
    speed_post(task, 0, (Told){5, 0.5, 1, NULL});
    assert_int_equal(speed_misfits(), 0);
    return task;
}

static void a_task_whose_lease_expires_is_judged(void **state) {
    (void)state;
    begin_to_lie();
    speed_kit.turn.now += 1e5;
    ledger_expire(&speed_kit.turn);
    assert_true(speed_is_barred(5));
}

static void a_task_that_is_released_is_judged(void **state) {
    (void)state;
    int64_t task = begin_to_lie();
    assert_true(ledger_release(&speed_kit.turn, task, 5, 0, &speed_kit.err));
    assert_true(speed_is_barred(5));
}

static void a_task_that_fails_is_judged(void **state) {
    (void)state;
    int64_t task = begin_to_lie();
    assert_true(ledger_fail(&speed_kit.turn,
                            &(Failure){.task = task,
                                       .worker = 5,
                                       .kind = "machine",
                                       .side = "",
                                       .message = "power failure",
                                       .log = ""},
                            &speed_kit.err));
    assert_int_equal(speed_misfits(), 1);
}

static void a_task_that_its_machine_forgot_is_judged(void **state) {
    (void)state;
    begin_to_lie();
    assert_int_equal(speed_claim(5), 0); // it claims without holding the task
    assert_int_equal(speed_misfits(), 1);
}

static void a_task_of_a_machine_that_is_blocked_is_judged(void **state) {
    (void)state;
    begin_to_lie();
    assert_true(ledger_block(&speed_kit.turn, 5, true, 2, "", &speed_kit.err));
    assert_int_equal(speed_misfits(), 1);
}

static void a_task_that_the_end_of_its_test_stops_is_judged(void **state) {
    (void)state;
    begin_to_lie();
    assert_true(ledger_test_stop(&speed_kit.turn, 1, 2, "", &speed_kit.err));
    assert_int_equal(kit_int(&speed_kit, "SELECT worker_id FROM misfits"), 5);
    assert_int_equal(speed_misfits(), 1);
}

static void a_late_batch_is_judged(void **state) {
    (void)state;
    speed_others_play();
    int64_t task = speed_claim(5);
    speed_post(task, 0, (Told){5, 0.5, 1, NULL});
    speed_kit.turn.now += 1e5;
    ledger_expire(&speed_kit.turn);
    assert_int_equal(speed_misfits(), 0);
    speed_post(task, 1, (Told){5, 0.5, 1, NULL});
    assert_true(speed_is_barred(5));
}

static void a_task_that_is_still_played_waits_for_its_end(void **state) {
    (void)state;
    speed_others_play();
    int64_t old = speed_claim(5);
    speed_post(old, 0, (Told){5, 1, 1, NULL});
    speed_kit.turn.now += 1e5;
    ledger_expire(&speed_kit.turn);
    speed_play((Told){4, 1, 1, NULL}); // gets the pairs that returned
    int64_t task = speed_claim(5);
    speed_post(task, 0, (Told){5, 0.2, 1, NULL});
    speed_post(old, 1, (Told){5, 1, 1, NULL}); // judged now, by its own 16 games
    assert_int_equal(speed_misfits(), 0);
    assert_true(ledger_release(&speed_kit.turn, task, 5, 0, &speed_kit.err));
    assert_true(speed_is_barred(5));
}

// ---- what follows -------------------------------------------------------------------------------

static void the_result_stays_as_it_was_played(void **state) {
    (void)state;
    speed_others_play();
    speed_play((Told){5, 0.5, 1, NULL});
    assert_int_equal(speed_misfits(), 1);
    assert_int_equal(kit_int(&speed_kit, "SELECT units_counted FROM tests"), 4 * 8);
    assert_int_equal(kit_int(&speed_kit, "SELECT count(*) FROM log WHERE NOT counted OR excluded"),
                     0);
    assert_int_equal(kit_int(&speed_kit, "SELECT count(*) FROM exclusions"), 0);
    assert_int_equal(kit_check(&speed_kit), 0);
    char *before scope(free_ptr) = kit_text(&speed_kit, "SELECT counts || points FROM tests");
    kit_sql(&speed_kit, "UPDATE tests SET counts = json_set(counts, '$.v', 0)");
    assert_true(ledger_recount_outdated(&speed_kit.turn, &speed_kit.err));
    char *after scope(free_ptr) = kit_text(&speed_kit, "SELECT counts || points FROM tests");
    assert_string_equal(before, after);
    assert_true(speed_is_barred(5));
    Excluded changed; // a maintainer may take them out
    assert_true(kit_exclude(&speed_kit, 1, 5, "all", &changed));
    assert_int_equal(changed.pairs, 8);
}

static void a_machine_that_is_readmitted_is_judged_by_what_it_plays_from_then_on(void **state) {
    (void)state;
    speed_others_play();
    speed_play((Told){5, 0.5, 1, NULL});
    assert_true(speed_is_barred(5));
    assert_true(ledger_readmit(&speed_kit.turn, 1, 5, 2, &speed_kit.err));
    assert_int_equal(
        kit_int(&speed_kit, "SELECT readmitted_by FROM misfits WHERE readmitted = 1000"), 2);
    assert_int_equal(kit_int(&speed_kit,
                             "SELECT count(*) FROM events WHERE type = 'readmitted' AND "
                             "worker_id = 5 AND user_id = 2"),
                     1);
    assert_int_equal(kit_int(&speed_kit, "SELECT count(*) FROM play_speeds WHERE worker_id = 5"),
                     0);
    assert_false(speed_is_barred(5));
    int64_t task = speed_claim(5);
    speed_post(task, 0, (Told){5, 1, 1, NULL}); // 8 games, which the 16 before would outweigh
    assert_true(ledger_release(&speed_kit.turn, task, 5, 0, &speed_kit.err));
    assert_int_equal(speed_misfits(), 1);
    speed_play((Told){5, 1, 1, NULL});
    assert_false(speed_is_barred(5));
    speed_play((Told){5, 0.5, 1, NULL});
    assert_true(speed_is_barred(5));
    assert_int_equal(speed_misfits(), 2);
}

static void only_a_barred_machine_can_be_readmitted(void **state) {
    (void)state;
    static const struct {
        int64_t test, worker;
        const char *code;
    } cases[] = {{1, 5, "not_misfit"}, {1, 99, "no_such_machine"}, {9, 5, "no_such_test"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_false(
            ledger_readmit(&speed_kit.turn, cases[i].test, cases[i].worker, 2, &speed_kit.err));
        assert_string_equal(speed_kit.err.code, cases[i].code);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, speed_open, speed_close)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_task_whose_lease_expires_is_judged),
        TEST(a_task_that_is_released_is_judged),
        TEST(a_task_that_fails_is_judged),
        TEST(a_task_that_its_machine_forgot_is_judged),
        TEST(a_task_of_a_machine_that_is_blocked_is_judged),
        TEST(a_task_that_the_end_of_its_test_stops_is_judged),
        TEST(a_late_batch_is_judged),
        TEST(a_task_that_is_still_played_waits_for_its_end),
        TEST(the_result_stays_as_it_was_played),
        TEST(a_machine_that_is_readmitted_is_judged_by_what_it_plays_from_then_on),
        TEST(only_a_barred_machine_can_be_readmitted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Machines whose speed in play does not fit the speed that they measured: who gets no further task.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/kit/speed_kit.h"

static void records_of(const char *owners) {
    kit_earn(&speed_kit);
    kit_sql(&speed_kit, "INSERT INTO records SELECT value, 1 FROM json_each('%s')", owners);
}

static void honest_machines_fit_whatever_their_speed_is(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++)
        speed_others_play();
    speed_play((Told){5, 1, 1.45, NULL}); // a processor that likes the base
    speed_play((Told){2, 1, 0.7, NULL});
    assert_int_equal(speed_misfits(), 0);
}

static void a_machine_that_measures_half_its_speed_gets_no_further_task(void **state) {
    (void)state;
    speed_others_play();
    speed_play((Told){5, 0.5, 1, NULL});
    assert_true(speed_is_barred(5));
    for (int64_t worker = 1; worker <= 4; worker++)
        assert_false(speed_is_barred(worker));
    char *reason scope(free_ptr) =
        kit_text(&speed_kit, "SELECT reason FROM misfits WHERE games = 16");
    assert_string_equal(reason, "in its latest 16 games the base searched 2.00 times as many nodes "
                                "a second as the machine had measured; on other machines it was "
                                "1.00 times");
    assert_int_equal(kit_int(&speed_kit, "SELECT count(*) FROM events WHERE type = 'misfit' AND "
                                         "worker_id = 5 AND test_id = 1"),
                     1);
}

static void a_machine_that_measures_twice_its_speed_is_barred_as_well(void **state) {
    (void)state;
    speed_others_play();
    speed_play((Told){5, 2, 1, NULL});
    assert_true(speed_is_barred(5));
    assert_int_equal(speed_misfits(), 1);
}

static void a_machine_that_hides_its_speed_in_play_is_barred_as_well(void **state) {
    (void)state;
    speed_others_play();
    speed_play((Told){5, 1, 0, NULL});
    assert_true(speed_is_barred(5));
}

static void hiding_it_behind_invented_faults_helps_only_where_all_games_are_lost(void **state) {
    (void)state;
    speed_others_play();
    speed_play((Told){2, 1, 0, "{\"time_losses\": 2, \"crashes\": 6}"});
    speed_play((Told){5, 1, 0, "{\"time_losses\": 1, \"crashes\": 6}"});
    assert_false(speed_is_barred(2));
    assert_true(speed_is_barred(5));
}

static void an_engine_that_prints_no_nodes_makes_no_machine_odd(void **state) {
    (void)state;
    for (int64_t worker = 1; worker <= 5; worker++)
        speed_play((Told){worker, 1, 0, NULL});
    speed_play((Told){2, 1, 1, NULL});
    assert_int_equal(speed_misfits(), 0);
}

static void a_test_without_a_clock_judges_no_machine(void **state) {
    (void)state;
    kit_sql(&speed_kit, "UPDATE sides SET tc = 'nodes=1000'");
    speed_others_play();
    speed_play((Told){5, 0.5, 1, NULL});
    assert_int_equal(speed_misfits(), 0);
    assert_int_equal(kit_int(&speed_kit, "SELECT count(*) FROM play_speeds"), 0);
}

static void one_batch_is_not_enough_to_be_judged(void **state) {
    (void)state;
    speed_others_play();
    int64_t task = speed_claim(5);
    speed_post(task, 0, (Told){5, 0.5, 1, NULL});
    assert_true(ledger_release(&speed_kit.turn, task, 5, 0, &speed_kit.err));
    assert_false(speed_is_barred(5)); // 8 games
    task = speed_claim(5);            // the other batch
    speed_post(task, 0, (Told){5, 0.5, 1, NULL});
    assert_true(speed_is_barred(5));
}

static void the_newest_tasks_count(void **state) {
    (void)state;
    speed_others_play();
    for (int i = 0; i < 10; i++)
        speed_play((Told){5, 1, 1, NULL});
    speed_play((Told){5, 0.5, 1, NULL});
    assert_true(speed_is_barred(5));
}

// ---- owners -------------------------------------------------------------------------------------

static void dan_lies(void) {
    for (int64_t worker = DAN; worker <= DAN_LAST; worker++)
        speed_play((Told){worker, 0.5, 1, NULL});
}

static void ten_machines_of_one_owner_make_no_honest_one_odd_and_save_themselves_not(void **state) {
    (void)state;
    dan_lies();
    speed_play((Told){1, 1, 1, NULL});
    dan_lies(); // one other owner: either may lie
    speed_play((Told){1, 1, 1, NULL});
    assert_int_equal(speed_misfits(), 0);
    speed_play((Told){3, 1, 1, NULL});
    speed_play((Told){1, 1, 1, NULL});
    speed_play((Told){2, 1, 1, NULL});
    assert_int_equal(speed_misfits(), 0);
    dan_lies();
    for (int64_t worker = DAN; worker <= DAN_LAST; worker++)
        assert_true(speed_is_barred(worker));
    speed_others_play();
    assert_int_equal(speed_misfits(), DAN_LAST - DAN + 1);
}

static void three_machines_of_one_owner_judge_none(void **state) {
    (void)state;
    for (int64_t worker = DAN; worker < DAN_LAST; worker++)
        speed_play((Told){worker, 1, 1, NULL});
    speed_play((Told){DAN_LAST, 0.5, 1, NULL});
    assert_int_equal(speed_misfits(), 0);
    speed_play((Told){1, 1, 1, NULL});
    speed_play((Told){DAN_LAST, 0.5, 1, NULL});
    assert_true(speed_is_barred(DAN_LAST)); // its owner's other machines and ada's agree
    assert_int_equal(speed_misfits(), 1);
}

// Four owners without a record, which lie, beside two with one.
static void owners_without_a_record_bar_none_that_has_one(void **state) {
    (void)state;
    records_of("[\"user 1\"]");
    speed_play((Told){3, 0.5, 1, NULL});
    speed_play((Told){4, 0.5, 1, NULL});
    speed_play((Told){5, 0.5, 1, NULL});
    speed_play((Told){1, 1, 1, NULL});
    speed_play((Told){1, 1, 1, NULL});
    assert_int_equal(speed_misfits(), 0);
    records_of("[\"user 2\"]");
    speed_play((Told){DAN, 0.5, 1, NULL});
    assert_int_equal(speed_misfits(), 0); // one of the two with a record agrees
    records_of("[\"user 3\"]");
    speed_play((Told){3, 1, 1, NULL});
    speed_play((Told){5, 1, 1, NULL});
    assert_int_equal(speed_misfits(), 0);
    speed_play((Told){DAN, 0.5, 1, NULL});
    assert_true(speed_is_barred(DAN));
    assert_int_equal(speed_misfits(), 1);
}

static void owners_without_a_record_are_not_heard_where_two_have_one(void **state) {
    (void)state;
    kit_sql(&speed_kit, "UPDATE workers SET user_id = NULL, network = 'another' WHERE id = 2");
    records_of("[\"user 1\", \"user 2\"]");
    speed_play((Told){4, 0.5, 1, NULL});
    speed_play((Told){5, 0.5, 1, NULL});
    speed_play((Told){DAN, 0.5, 1, NULL});
    speed_play((Told){1, 1, 1, NULL});
    speed_play((Told){3, 1, 1, NULL});
    speed_play((Told){2, 1, 1, NULL}); // without a record; three of five others lie
    assert_int_equal(speed_misfits(), 0);
}

static void a_blocked_or_an_excluded_machine_is_not_heard(void **state) {
    (void)state;
    speed_others_play();
    kit_sql(&speed_kit, "UPDATE workers SET blocked = 1 WHERE id = 4");
    Excluded changed;
    assert_true(kit_exclude(&speed_kit, 1, 3, "all", &changed));
    speed_play((Told){5, 0.5, 1, NULL});
    assert_int_equal(speed_misfits(), 0);
    assert_true(kit_include(&speed_kit, 1, 3, &changed));
    speed_play((Told){5, 0.5, 1, NULL});
    assert_true(speed_is_barred(5));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, speed_open, speed_close)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(honest_machines_fit_whatever_their_speed_is),
        TEST(a_machine_that_measures_half_its_speed_gets_no_further_task),
        TEST(a_machine_that_measures_twice_its_speed_is_barred_as_well),
        TEST(a_machine_that_hides_its_speed_in_play_is_barred_as_well),
        TEST(hiding_it_behind_invented_faults_helps_only_where_all_games_are_lost),
        TEST(an_engine_that_prints_no_nodes_makes_no_machine_odd),
        TEST(a_test_without_a_clock_judges_no_machine),
        TEST(one_batch_is_not_enough_to_be_judged),
        TEST(the_newest_tasks_count),
        TEST(ten_machines_of_one_owner_make_no_honest_one_odd_and_save_themselves_not),
        TEST(three_machines_of_one_owner_judge_none),
        TEST(owners_without_a_record_bar_none_that_has_one),
        TEST(owners_without_a_record_are_not_heard_where_two_have_one),
        TEST(a_blocked_or_an_excluded_machine_is_not_heard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

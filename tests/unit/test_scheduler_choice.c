// The scheduler's choice and the time controls that it weighs. Values of fishtest.md 1.4:
// durations, ratios, weights.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "../../server/common/tc.h"
#include "../../server/scheduler.h"

static const SchedWorker worker = {.cores = 8, .memory_mib = 16000};

static SchedTest stc(int64_t id) {
    return (SchedTest){.id = id,
                       .threads = 1,
                       .batch_pairs = 16,
                       .hash_mib = 32,
                       .pairs_left = 400000,
                       .game_seconds = 30.912,
                       .tc_ratio = 1};
}

static int64_t choose(const SchedTest *tests, int count) {
    return scheduler_choose(tests, count, &worker, 1800).test;
}

static void priority_goes_before_everything(void **state) {
    (void)state;
    SchedTest tests[] = {stc(1), stc(2)};
    tests[1].priority = 1;
    tests[1].cores = 1000;
    assert_int_equal(choose(tests, 2), 2);
    tests[0].priority = 2;
    assert_int_equal(choose(tests, 2), 1);
}

static void a_test_that_nobody_plays_goes_first(void **state) {
    (void)state;
    SchedTest tests[] = {stc(1), stc(2)};
    tests[0].cores = 1;
    assert_int_equal(choose(tests, 2), 2);
}

static void fewest_cores_for_the_weight_is_next(void **state) {
    (void)state;
    SchedTest tests[] = {stc(1), stc(2)};
    tests[0].cores = 30;
    tests[1].cores = 100;
    assert_int_equal(choose(tests, 2), 1);
    tests[1].tc_ratio = 6; // an LTC weighs four times as much
    assert_int_equal(choose(tests, 2), 2);
}

static void equal_tests_go_by_age(void **state) {
    (void)state;
    SchedTest tests[] = {stc(7), stc(3)};
    assert_int_equal(choose(tests, 2), 3);
}

static void the_last_test_of_a_worker_counts_its_cores(void **state) {
    (void)state;
    SchedTest tests[] = {stc(1), stc(2)};
    tests[0].cores = 4, tests[0].was_last = true;
    tests[1].cores = 10;
    assert_int_equal(choose(tests, 2), 2);
}

static void tests_that_do_not_fit_are_passed_over(void **state) {
    (void)state;
    SchedTest test = stc(1);
    assert_int_equal(choose(&test, 1), 1);
    test.threads = 9;
    assert_int_equal(choose(&test, 1), 0);
    test.threads = 8;
    assert_int_equal(choose(&test, 1), 1);
    test = stc(1), test.hash_mib = 15900;
    assert_int_equal(choose(&test, 1), 0);
    test = stc(1), test.barred = true;
    assert_int_equal(choose(&test, 1), 0);
    test = stc(1), test.pairs_left = 0;
    assert_int_equal(choose(&test, 1), 0);
    assert_int_equal(choose(NULL, 0), 0);
}

static void where_memory_is_short_fewer_games_are_played(void **state) {
    (void)state;
    SchedTest test = stc(1);
    test.hash_mib = 4000; // 3 games of 4128 MiB
    assert_int_equal(choose(&test, 1), 1);
    assert_int_equal(scheduler_task_pairs(&test, &worker, 1800), 80);
}

static void a_task_lasts_as_long_as_it_should(void **state) {
    (void)state;
    SchedTest test = stc(1);
    // 1800 s / 30.912 s x 8 slots = 465 games, 232 pairs, 14 batches.
    assert_int_equal(scheduler_task_pairs(&test, &worker, 1800), 224);
    test.game_seconds *= 100;
    assert_int_equal(scheduler_task_pairs(&test, &worker, 1800), 16);
    test.game_seconds = 0.01;
    assert_true(scheduler_task_pairs(&test, &worker, 1800) <= TASK_PAIRS_MAX);
    test.batch_pairs = 1000;
    assert_int_equal(scheduler_task_pairs(&test, &worker, 1), 1000);
}

static void the_end_of_a_test_is_shared(void **state) {
    (void)state;
    SchedTest test = stc(1);
    test.batch_pairs = 4;
    test.pairs_left = 100;
    assert_int_equal(scheduler_task_pairs(&test, &worker, 1800), 52); // half, whole batches
    test.pairs_left = 3;
    assert_int_equal(scheduler_task_pairs(&test, &worker, 1800), 4);
}

static void weights_are_fishtests(void **state) {
    (void)state;
    SchedTest test = stc(1);
    test.author_active_tests = 1;
    assert_true(fabs(scheduler_weight(&test) - 97.3) < 0.05);
    test.tc_ratio = 6;
    assert_true(fabs(scheduler_weight(&test) - 389.4) < 0.1);
    test.tc_ratio = 48;
    assert_true(fabs(scheduler_weight(&test) - 1947) < 1);
    test = stc(1), test.games = 400000, test.llr = 2.5, test.elo0 = 0.5;
    assert_true(fabs(scheduler_weight(&test) - 220) < 1e-9);
}

// ---- time controls ------------------------------------------------------------------------------

static TimeControl parsed(const char *text) {
    TimeControl tc;
    Error err;
    if (!tc_parse(text, &tc, &err))
        fail_msg("%s: %s", text, err.message);
    return tc;
}

static void durations_are_fishtests(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int threads, batch;
        double seconds, ratio;
    } known[] = {{"10+0.1", 1, 16, 30.912, 1},   {"60+0.6", 1, 3, 185.472, 6},
                 {"5+0.05", 8, 4, 15.456, 4},    {"20+0.2", 8, 1, 61.824, 16},
                 {"180+1.8", 1, 1, 556.416, 18}, {"60+0.6", 8, 1, 185.472, 48},
                 {"1+0.01", 1, 16, 3.0912, 0.1}, {"40/10", 1, 16, 31.28, 1.0119}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        TimeControl tc = parsed(known[i].text);
        assert_true(fabs(tc_game_seconds(&tc, 1e6) - known[i].seconds) < 1e-9);
        assert_true(fabs(tc_ratio(&tc, known[i].threads) - known[i].ratio) < 1e-4);
        assert_int_equal(tc_batch_pairs(&tc, known[i].threads), known[i].batch);
    }
}

static void every_form_of_time_control_is_read(void **state) {
    (void)state;
    TimeControl tc = parsed("40/10+0.1");
    assert_int_equal(tc.moves, 40);
    assert_true(tc.base_s == 10 && tc.increment_s == 0.1 && tc_is_scaled(&tc));
    tc = parsed("st=0.25");
    assert_true(tc.move_s == 0.25 && tc_is_scaled(&tc));
    tc = parsed("nodes=20000");
    assert_true(tc.nodes == 20000 && !tc_is_scaled(&tc));
    tc = parsed("depth=8");
    assert_true(tc.depth == 8 && !tc_is_scaled(&tc));
}

static void what_is_no_time_control_is_refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",        "ten",   "10+",     "+0.1", "0+0.1",  "-1+0.1",  "10+0.1+",  "0/10",
        "40/",     "1e3+0", "nan",     "inf",  "0x10",   "depth=0", "nodes=-1", "nodes=1.5",
        "speed=3", "st=",   "10 +0.1", "st=0", "10+301", "20000",   "+5/10",    "nodes=+5"};
    TimeControl tc;
    Error err;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (tc_parse(bad[i], &tc, &err))
            fail_msg("accepted: \"%s\"", bad[i]);
        assert_string_equal(err.field, "tc");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(priority_goes_before_everything),
        cmocka_unit_test(a_test_that_nobody_plays_goes_first),
        cmocka_unit_test(fewest_cores_for_the_weight_is_next),
        cmocka_unit_test(equal_tests_go_by_age),
        cmocka_unit_test(the_last_test_of_a_worker_counts_its_cores),
        cmocka_unit_test(tests_that_do_not_fit_are_passed_over),
        cmocka_unit_test(where_memory_is_short_fewer_games_are_played),
        cmocka_unit_test(a_task_lasts_as_long_as_it_should),
        cmocka_unit_test(the_end_of_a_test_is_shared),
        cmocka_unit_test(weights_are_fishtests),
        cmocka_unit_test(durations_are_fishtests),
        cmocka_unit_test(every_form_of_time_control_is_read),
        cmocka_unit_test(what_is_no_time_control_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

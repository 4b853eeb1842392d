// The scheduler's choice and the time controls that it weighs. Values of fishtest.md 1.4:
// durations, ratios, weights.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "server/common/time_control.h"
#include "server/ledger/scheduler.h"

static const SchedWorker worker = {.cores = 8, .memory_mib = 16000, .trust = TRUST_PROVEN};

static SchedTest stc(int64_t id) {
    return (SchedTest){.id = id,
                       .threads = 1,
                       .batch_pairs = 16,
                       .game_mib = 160,
                       .pairs_left = 400000,
                       .level = LEVEL_VOUCHED,
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

static void a_test_that_no_machine_plays_goes_first(void **state) {
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
    test = stc(1), test.game_mib = 16000;
    assert_int_equal(choose(&test, 1), 0);
    test = stc(1), test.barred = true;
    assert_int_equal(choose(&test, 1), 0);
    test = stc(1), test.pairs_left = 0;
    assert_int_equal(choose(&test, 1), 0);
    assert_int_equal(choose(NULL, 0), 0);
}

static void if_memory_is_short_fewer_games_are_played(void **state) {
    (void)state;
    SchedTest test = stc(1);
    test.game_mib = 4128; // 3 games
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
    assert_true(scheduler_task_pairs(&test, &worker, 1800) <= DEALT_PAIRS_MAX);
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
    test = stc(1), test.games = 400000, test.promise = 1;
    assert_true(fabs(scheduler_weight(&test) - 220) < 1e-9);
}

// ---- trust --------------------------------------------------------------------------------------

static void a_new_machine_gets_what_takes_minutes(void **state) {
    (void)state;
    SchedTest test = stc(1);
    SchedWorker new = {.cores = 4096, .memory_mib = 1 << 20};
    assert_int_equal(scheduler_task_pairs(&test, &new, 1800), 32);
    new.cores = 1;
    assert_int_equal(scheduler_task_pairs(&test, &new, 1800), 16); // a batch at least
    new.cores = 4096, new.trust = TRUST_COUNTED;
    assert_int_equal(scheduler_task_pairs(&test, &new, 1800), 2000);
    new.trust = TRUST_NONE, new.tasks = 1;
    assert_int_equal(scheduler_choose(&test, 1, &new, 1800).test, 0);
    new.trust = TRUST_COUNTED;
    assert_int_equal(scheduler_choose(&test, 1, &new, 1800).test, 1);
}

static void cores_weigh_as_far_as_they_are_believed(void **state) {
    (void)state;
    SchedWorker some = {.cores = 64};
    assert_int_equal(scheduler_counted_cores(&some), 2);
    some.trust = TRUST_COUNTED;
    assert_int_equal(scheduler_counted_cores(&some), 4);
    some.trust = TRUST_PROVEN;
    assert_int_equal(scheduler_counted_cores(&some), 64);
}

static void an_owner_leaves_room_for_those_who_are_there(void **state) {
    (void)state;
    SchedTest test = stc(1);
    SchedWorker one = worker;
    test.pairs_left = 600, test.pairs_open = 400, test.pairs_of_owner = 400;
    assert_int_equal(scheduler_room(&test, &one), 600); // alone
    one.others_cores = 8;
    assert_int_equal(scheduler_room(&test, &one), 96); // half of 1000 in whole batches
    test.pairs_of_owner = 500;
    assert_false(scheduler_fits(&test, &one));
    test.threads = 9; // which no other machine has
    assert_int_equal(scheduler_room(&test, &one), 600);
}

static void owners_get_what_their_level_permits(void **state) {
    (void)state;
    SchedTest test = stc(1);
    SchedWorker one = worker;
    for (test.level = LEVEL_UNPROVEN; test.level < LEVEL_VOUCHED; test.level++)
        assert_int_equal(scheduler_room(&test, &one), 0); // before vouched owners have played
    assert_int_equal(scheduler_room(&test, &one), test.pairs_left);
    test.counted.of[LEVEL_VOUCHED] = 1000;
    test.level = LEVEL_RECORDED;
    assert_int_equal(scheduler_room(&test, &one), 496); // half, in whole batches
    test.counted.of[LEVEL_RECORDED] = 300, test.held.of[LEVEL_RECORDED] = 190;
    assert_int_equal(scheduler_room(&test, &one), 0);
    assert_false(scheduler_fits(&test, &one));
    test.level = LEVEL_UNPROVEN;
    assert_int_equal(scheduler_room(&test, &one), 64); // a nineteenth of 1300
    test.held.of[LEVEL_UNPROVEN] = 60;
    assert_int_equal(scheduler_room(&test, &one), 0);
}

static void an_author_plays_a_third_at_most_while_a_vouched_owner_could(void **state) {
    (void)state;
    SchedTest test = stc(1);
    SchedWorker one = worker;
    test.level = LEVEL_VOUCHED, test.is_author = true;
    assert_int_equal(scheduler_room(&test, &one), test.pairs_left); // alone
    one.others_cores = one.vouched_cores = 8;
    assert_int_equal(scheduler_room(&test, &one), 0);
    test.counted.of[LEVEL_VOUCHED] = 1200, test.pairs_author = 200;
    assert_int_equal(scheduler_room(&test, &one), 288); // half of 1000 are 500
    test.pairs_of_owner = 290;
    assert_int_equal(scheduler_room(&test, &one), 0);
    one.vouched_cores = 0; // others may not play without vouched owners, so the author is needed
    assert_true(scheduler_room(&test, &one) > 0);
}

// ---- one liar and thirty honest machines, minute by minute --------------------------------------

enum { HONEST = 30, TESTS = 2, MACHINES = HONEST + 1, LIAR = HONEST, HOURS = 24 };

typedef struct Machine {
    SchedWorker worker;
    int64_t test, pairs; // of the task that it holds
    int minutes;         // until that is done
    int idle, worked[TESTS];
} Machine;

static SchedTest sim_tests[TESTS];

// What the ledger would tell of a test and a machine that asks.
static SchedTest sim_view(const Machine *all, const Machine *who, int at) {
    SchedTest view = sim_tests[at];
    for (int i = 0; i < MACHINES; i++)
        if (all[i].test == view.id) {
            view.cores += scheduler_counted_cores(&all[i].worker);
            view.pairs_open += all[i].pairs;
            view.pairs_of_owner += &all[i] == who ? all[i].pairs : 0;
        }
    return view;
}

static void sim_claim(Machine *all, Machine *who) {
    SchedTest views[TESTS];
    for (int i = 0; i < TESTS; i++)
        views[i] = sim_view(all, who, i);
    SchedChoice choice = scheduler_choose(views, TESTS, &who->worker, 1800);
    who->test = choice.test, who->pairs = choice.pairs;
    if (!choice.test) {
        who->idle++;
        return;
    }
    sim_tests[choice.test - 1].pairs_left -= choice.pairs;
    who->minutes = (int)(choice.pairs * 2 * 31 / 60 / who->worker.cores) + 1;
}

// The liar holds all that it gets until its batch is overdue, and then gives it back unplayed.
static void sim_minute(Machine *all, Machine *who) {
    if (who->test && who->minutes-- > 0) {
        who->worked[who->test - 1]++;
        return;
    }
    if (who->test && who == &all[LIAR])
        sim_tests[who->test - 1].pairs_left += who->pairs;
    else if (who->test && who->worker.trust == TRUST_NONE)
        who->worker.trust = TRUST_COUNTED;
    sim_claim(all, who);
    if (who == &all[LIAR])
        who->minutes = 90;
}

static void sim_run(Trust liar, int64_t pairs) {
    static Machine all[MACHINES];
    memset(all, 0, sizeof all);
    for (int i = 0; i < TESTS; i++)
        sim_tests[i] = stc(i + 1), sim_tests[i].pairs_left = pairs;
    for (int i = 0; i < MACHINES; i++)
        all[i].worker = (SchedWorker){.cores = 4, .memory_mib = 16000, .others_cores = 4};
    all[LIAR].worker = (SchedWorker){4096, 1 << 28, liar, 0, 4, 0};
    int worked[TESTS] = {0}, idle = 0, at_first[TESTS] = {0};
    for (int minute = 0; minute < HOURS * 60; minute++) {
        for (int i = MACHINES - 1; i >= 0; i--)
            sim_minute(all, &all[i]);
        for (int i = 0; i < HONEST && !minute; i++)
            at_first[all[i].test - 1]++;
    }
    for (int t = 0; t < TESTS; t++)
        assert_in_range(at_first[t], HONEST / 3, HONEST);
    for (int i = 0; i < HONEST; i++) {
        idle += all[i].idle;
        for (int t = 0; t < TESTS; t++)
            worked[t] += all[i].worked[t];
    }
    assert_true(idle == 0);
    for (int t = 0; t < TESTS; t++)
        assert_in_range(worked[t], HONEST * HOURS * 60 / 3, HONEST * HOURS * 60);
}

static void a_liar_leaves_the_honest_their_share_of_every_test(void **state) {
    (void)state;
    sim_run(TRUST_NONE, 400000);
    sim_run(TRUST_COUNTED, 400000);
}

// Fixed tests of 2000 pairs end by the hands of the honest: only what the liar may hold is left.
static void a_liar_does_not_keep_a_short_test_from_being_played(void **state) {
    (void)state;
    static Machine all[MACHINES];
    for (Trust trust = TRUST_NONE; trust <= TRUST_COUNTED; trust++) {
        memset(all, 0, sizeof all);
        sim_tests[0] = stc(1), sim_tests[1] = stc(2);
        sim_tests[0].pairs_left = sim_tests[1].pairs_left = 2000;
        for (int i = 0; i < MACHINES; i++)
            all[i].worker = (SchedWorker){4, 16000, TRUST_PROVEN, 0, 4, 4};
        all[LIAR].worker.trust = trust, all[LIAR].worker.cores = 4096;
        for (int minute = 0; minute < HOURS * 60; minute++)
            for (int i = MACHINES - 1; i >= 0; i--)
                sim_minute(all, &all[i]);
        for (int i = 0; i < MACHINES; i++)
            assert_int_equal(all[i].test, 0);
        assert_int_equal(sim_tests[0].pairs_left + sim_tests[1].pairs_left, 0);
    }
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
        cmocka_unit_test(a_test_that_no_machine_plays_goes_first),
        cmocka_unit_test(fewest_cores_for_the_weight_is_next),
        cmocka_unit_test(equal_tests_go_by_age),
        cmocka_unit_test(the_last_test_of_a_worker_counts_its_cores),
        cmocka_unit_test(tests_that_do_not_fit_are_passed_over),
        cmocka_unit_test(if_memory_is_short_fewer_games_are_played),
        cmocka_unit_test(a_task_lasts_as_long_as_it_should),
        cmocka_unit_test(the_end_of_a_test_is_shared),
        cmocka_unit_test(weights_are_fishtests),
        cmocka_unit_test(a_new_machine_gets_what_takes_minutes),
        cmocka_unit_test(cores_weigh_as_far_as_they_are_believed),
        cmocka_unit_test(an_owner_leaves_room_for_those_who_are_there),
        cmocka_unit_test(owners_get_what_their_level_permits),
        cmocka_unit_test(an_author_plays_a_third_at_most_while_a_vouched_owner_could),
        cmocka_unit_test(a_liar_leaves_the_honest_their_share_of_every_test),
        cmocka_unit_test(a_liar_does_not_keep_a_short_test_from_being_played),
        cmocka_unit_test(durations_are_fishtests),
        cmocka_unit_test(every_form_of_time_control_is_read),
        cmocka_unit_test(what_is_no_time_control_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

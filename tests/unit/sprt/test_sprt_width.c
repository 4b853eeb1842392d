// Tests that run until the difference is known to ± x Elo: when they stop, how long they take, and
// how often their interval covers the truth.
#include "tests/unit/sprt/sprt_vectors.h"

#include "sprt/width_trial.h"

static bool stops(SprtModel unit, double x, const double counts[5]) {
    return width_interval(&(WidthRule){unit, x}, counts).stops;
}

// The estimates are those that Fishtest's code gives (test_sprt_estimates.c).
static void the_interval_is_that_of_the_plain_estimate(void **state) {
    (void)state;
    static const double COUNTS[] = {39, 2226, 31451, 2412, 40};
    WidthInterval w = width_interval(&(WidthRule){SPRT_LOGISTIC, 0.7}, COUNTS);
    assert_near(w.elo, .90298105, 1e-8);
    assert_near(w.half, .66253149, 1e-8);
    assert_near(w.high - w.low, 2 * w.half, 1e-12);
    assert_near((w.high + w.low) / 2, w.elo, 1e-4);
    EloEstimate e = elo_estimate(COUNTS, 5);
    WidthInterval n = width_interval(&(WidthRule){SPRT_NORMALIZED, 3}, COUNTS);
    assert_near(n.elo, e.nelo, 0);
    assert_near(n.high, e.nelo + e.nelo_error, 0);
    assert_near(n.low, e.nelo - e.nelo_error, 0);
}

static void a_test_stops_when_its_interval_is_narrow(void **state) {
    (void)state;
    static const double COUNTS[] = {39, 2226, 31451, 2412, 40};
    double nelo = elo_estimate(COUNTS, 5).nelo_error;
    assert_true(stops(SPRT_LOGISTIC, 0.66254, COUNTS));
    assert_false(stops(SPRT_LOGISTIC, 0.66252, COUNTS));
    assert_true(stops(SPRT_NORMALIZED, nelo, COUNTS));
    assert_false(stops(SPRT_NORMALIZED, nelo - 1e-9, COUNTS));
}

static void no_test_stops_before_500_pairs(void **state) {
    (void)state;
    assert_false(stops(SPRT_LOGISTIC, 100, (double[]){0, 100, 299, 100, 0}));
    assert_true(stops(SPRT_LOGISTIC, 100, (double[]){0, 100, 300, 100, 0}));
}

static void no_test_stops_on_few_decisive_pairs(void **state) {
    (void)state;
    assert_false(stops(SPRT_LOGISTIC, 100, (double[]){0, 10, 1000, 14, 0}));
    assert_true(stops(SPRT_LOGISTIC, 100, (double[]){0, 10, 1000, 15, 0}));
    assert_false(stops(SPRT_NORMALIZED, 100, (double[]){0, 49, 5000, 50, 0}));
    assert_true(stops(SPRT_NORMALIZED, 100, (double[]){0, 50, 5000, 50, 0}));
}

// Their variance looks like 0.
static void no_test_stops_on_results_that_are_all_equal(void **state) {
    (void)state;
    assert_false(stops(SPRT_LOGISTIC, 100, (double[]){0, 0, 0, 0, 10000}));
    assert_false(stops(SPRT_NORMALIZED, 100, (double[]){0, 0, 0, 10000, 0}));
    assert_false(stops(SPRT_LOGISTIC, 100, (double[]){0, 0, 0, 30, 1e6})); // beyond the limit
    assert_false(stops(SPRT_LOGISTIC, 100, (double[]){1e6, 30, 0, 0, 0}));
}

static void no_pairs_give_no_interval(void **state) {
    (void)state;
    WidthInterval w = width_interval(&(WidthRule){SPRT_LOGISTIC, 3}, (double[5]){0});
    assert_true(isnan(w.elo) && isnan(w.half) && isnan(w.low) && isnan(w.high));
    assert_false(w.stops);
}

static void a_width_outside_its_limits_is_refused(void **state) {
    (void)state;
    static const double WRONG[] = {0, -1, 0.09, 101, INFINITY, NAN};
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++)
        assert_non_null(width_rule_check(&(WidthRule){SPRT_LOGISTIC, WRONG[i]}));
    assert_null(width_rule_check(&(WidthRule){SPRT_LOGISTIC, 0.1}));
    assert_null(width_rule_check(&(WidthRule){SPRT_NORMALIZED, 100}));
}

// Games that are drawn with the probability 2/3 make pairs of 1/36, 2/9, 1/2, 2/9, 1/36.
static void the_pairs_of_equal_engines_have_a_closed_form(void **state) {
    (void)state;
    double law[5];
    width_even_law(0.5, law);
    assert_near(law[0], 1. / 36, 1e-15);
    assert_near(law[1], 2. / 9, 1e-15);
    assert_near(law[2], 0.5, 0);
    assert_near(law[3], 2. / 9, 1e-15);
    assert_near(law[4], 1. / 36, 1e-15);
    width_even_law(0.1, law);
    assert_near(law[0], 0.9 / 6, 1e-15);
    assert_near(law[1], 0.9 / 3, 1e-15);
}

// A published regression test of a strong engine had 44 % of its pairs in the middle.
static void the_pairs_of_equal_engines_look_like_real_ones(void **state) {
    (void)state;
    static const double REAL[] = {1187, 7410, 13475, 7378, 1164};
    double law[5], all = 0;
    for (int i = 0; i < 5; i++)
        all += REAL[i];
    width_even_law(REAL[2] / all, law);
    for (int i = 0; i < 5; i++)
        assert_near(law[i], REAL[i] / all, 0.003);
}

// The closed form for half of the pairs in the middle is 1/24 (1.96/(L(x) - 1/2))²; normalized,
// it is (1.96·(800/ln 10)/(sqrt 2·x))².
static void the_expected_length_has_a_closed_form(void **state) {
    (void)state;
    WidthRule logistic = {SPRT_LOGISTIC, 3}, normalized = {SPRT_NORMALIZED, 3};
    assert_close(width_pairs_expected(&logistic, 0.5), 8587.615776193146, 1e-12);
    assert_close(width_pairs_expected(&normalized, 0.5), 25761.56683275917, 1e-12);
    assert_close(width_pairs_expected(&normalized, 0.9), 25761.56683275917, 1e-12);
    assert_close(width_pairs_expected(&(WidthRule){SPRT_LOGISTIC, 1}, 0.9), 12063.521198297736,
                 1e-12);
}

static void the_expected_length_has_the_minimums(void **state) {
    (void)state;
    WidthRule logistic = {SPRT_LOGISTIC, 50}, normalized = {SPRT_NORMALIZED, 50};
    assert_near(width_pairs_expected(&logistic, 0.5), 500, 0);
    assert_close(width_pairs_expected(&logistic, 0.98), 1250.0, 1e-12);
    assert_close(width_pairs_expected(&normalized, 0.98), 5000.0, 1e-12);
}

// Simulated tests. The seed makes them the same each time. At 20,000 tests the standard error of
// the coverage is 0.15 %. Without the minimum for normalized Elo, the last case has 93.1 %.
static const WidthTrial TRIALS[] = {
    {{SPRT_LOGISTIC, 10}, 0.3, 0, 16},     {{SPRT_LOGISTIC, 10}, 0.6, 20, 16},
    {{SPRT_LOGISTIC, 3}, 0.95, 0, 32},     {{SPRT_LOGISTIC, 10}, 0.98, 20, 16},
    {{SPRT_NORMALIZED, 10}, 0.6, 20, 32},  {{SPRT_NORMALIZED, 10}, 0.9, 0, 16},
    {{SPRT_NORMALIZED, 10}, 0.98, 20, 16},
};
enum { TRIAL_COUNT = sizeof TRIALS / sizeof *TRIALS, RUNS = 20000 };

static void intervals_cover_the_truth_after_stopping(void **state) {
    (void)state;
    for (int i = 0; i < TRIAL_COUNT; i++) {
        WidthCoverage c = width_simulate(&TRIALS[i], RUNS, 7);
        assert_in_range((long)lround(c.coverage * 1e4), 9400, 9600);
    }
}

static void simulated_tests_are_as_long_as_expected(void **state) {
    (void)state;
    for (int i = 0; i < TRIAL_COUNT; i++) {
        const WidthTrial *trial = &TRIALS[i];
        double expected = width_pairs_expected(&trial->rule, trial->draw_share);
        WidthCoverage c = width_simulate(trial, 2000, 7);
        assert_near((c.pairs - trial->batch_pairs / 2.0) / expected, 1, 0.04);
    }
}

static void a_simulation_depends_on_its_seed_alone(void **state) {
    (void)state;
    WidthCoverage a = width_simulate(&TRIALS[2], 500, 1), b = width_simulate(&TRIALS[2], 500, 1);
    assert_near(a.pairs, b.pairs, 0);
    assert_near(a.coverage, b.coverage, 0);
    assert_true(width_simulate(&TRIALS[2], 500, 2).pairs != a.pairs);
}

static void the_simulated_truth_is_the_one_that_was_asked_for(void **state) {
    (void)state;
    WidthTrial trial = {{SPRT_NORMALIZED, 10}, 0.6, 20, 16};
    assert_near(width_simulate(&trial, 1, 1).truth, 20, 0.02);
    trial.nelo = -20;
    assert_near(width_simulate(&trial, 1, 1).truth, -20, 0.02);
    trial = (WidthTrial){{SPRT_NORMALIZED, 10}, 0.98, 90, 16}; // such pairs do not exist
    assert_true(isnan(width_simulate(&trial, 1, 1).coverage));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_interval_is_that_of_the_plain_estimate),
        cmocka_unit_test(a_test_stops_when_its_interval_is_narrow),
        cmocka_unit_test(no_test_stops_before_500_pairs),
        cmocka_unit_test(no_test_stops_on_few_decisive_pairs),
        cmocka_unit_test(no_test_stops_on_results_that_are_all_equal),
        cmocka_unit_test(no_pairs_give_no_interval),
        cmocka_unit_test(a_width_outside_its_limits_is_refused),
        cmocka_unit_test(the_pairs_of_equal_engines_have_a_closed_form),
        cmocka_unit_test(the_pairs_of_equal_engines_look_like_real_ones),
        cmocka_unit_test(the_expected_length_has_a_closed_form),
        cmocka_unit_test(the_expected_length_has_the_minimums),
        cmocka_unit_test(intervals_cover_the_truth_after_stopping),
        cmocka_unit_test(simulated_tests_are_as_long_as_expected),
        cmocka_unit_test(a_simulation_depends_on_its_seed_alone),
        cmocka_unit_test(the_simulated_truth_is_the_one_that_was_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

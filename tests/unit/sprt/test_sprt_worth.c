// What patches are worth under the prior of their kind: the fit, the mean, and the sum over what
// passed in simulated tests.
#include "tests/unit/sprt/sprt_vectors.h"

#include "sprt/sprt.h"
#include "sprt/worth.h"
#include "tests/kit/worth_trial.h"

enum { MANY = 400 };

// `count` results with this error; they are `mean` and `mean` ± `off` in turn, a quarter of them
// off on each side.
static void fill(WorthResult *results, int count, double mean, double off, double error) {
    static const int way[] = {0, 1, 0, -1};
    for (int i = 0; i < count; i++)
        results[i] = (WorthResult){mean + off * way[i % 4], error};
}

// With equal errors, the variance of the results is that of the worth and that of an error.
static void equal_errors_have_a_closed_form(void **state) {
    (void)state;
    WorthResult results[MANY];
    fill(results, MANY, -1, 4, 1.5);
    WorthPrior prior = worth_prior(results, MANY);
    assert_near(prior.mean, -1, 1e-9);
    assert_near(prior.spread, sqrt(16.0 / 2 - 1.5 * 1.5), 1e-9);
    assert_int_equal(prior.tests, MANY);
}

static void results_that_chance_explains_have_no_spread(void **state) {
    (void)state;
    WorthResult results[MANY];
    fill(results, MANY, 2, 1, 1);
    WorthPrior prior = worth_prior(results, MANY);
    assert_near(prior.spread, 0, 1e-12);
    Worth worth = worth_expected(&prior, &(WorthResult){9, 1});
    assert_near(worth.mean, 2, 1e-9);
    assert_near(worth.high, 2, 1e-9);
}

static double log_likelihood(const WorthResult *results, double mean, double spread) {
    double sum = 0;
    for (int i = 0; i < MANY; i++) {
        double variance = spread * spread + results[i].error * results[i].error;
        sum -= (log(variance) + pow(results[i].nelo - mean, 2) / variance) / 2;
    }
    return sum;
}

static void no_prior_near_it_is_more_likely(void **state) {
    (void)state;
    WorthResult results[MANY];
    for (int i = 0; i < MANY; i++)
        results[i] = (WorthResult){3 * sin(i * i) - 0.5, 0.5 + i % 7};
    WorthPrior prior = worth_prior(results, MANY);
    double most = log_likelihood(results, prior.mean, prior.spread);
    assert_true(prior.spread > 0.5);
    for (int x = -3; x <= 3; x++)
        for (int y = -3; y <= 3; y++)
            if (x || y)
                assert_true(
                    most > log_likelihood(results, prior.mean + 0.01 * x, prior.spread + 0.01 * y));
}

static void exact_results_outweigh_rough_ones(void **state) {
    (void)state;
    WorthResult results[2 * MANY];
    fill(results, MANY, 1, 2, 0.1);
    fill(results + MANY, MANY, -5, 40, 30);
    WorthPrior prior = worth_prior(results, 2 * MANY);
    assert_near(prior.mean, 1, 0.05);
    assert_near(prior.spread, sqrt(2), 0.01);
}

static void fewer_than_100_tests_have_no_prior(void **state) {
    (void)state;
    WorthResult results[WORTH_TESTS_MIN];
    fill(results, WORTH_TESTS_MIN, 0, 4, 1);
    assert_false(isnan(worth_prior(results, WORTH_TESTS_MIN).mean));
    assert_true(isnan(worth_prior(results, WORTH_TESTS_MIN - 1).mean));
    assert_int_equal(worth_prior(results, 7).tests, 7);
}

static void results_that_are_all_zero_have_a_prior(void **state) {
    (void)state;
    WorthResult results[MANY];
    fill(results, MANY, 0, 0, 1);
    WorthPrior prior = worth_prior(results, MANY);
    assert_near(prior.mean, 0, 0);
    assert_near(prior.spread, 0, 0);
}

// Of equal variances the mean is half way, and the variance half of each.
static void the_worth_lies_between_prior_and_result(void **state) {
    (void)state;
    WorthPrior prior = {-1, 2, MANY};
    Worth worth = worth_expected(&prior, &(WorthResult){5, 2});
    assert_near(worth.mean, 2, 1e-12);
    assert_near(worth.high - worth.mean, 1.959963984540054 * sqrt(2), 1e-12);
    assert_near(worth.mean - worth.low, 1.959963984540054 * sqrt(2), 1e-12);
}

static void a_result_is_the_plain_estimate(void **state) {
    (void)state;
    static const double COUNTS[] = {39, 2226, 31451, 2412, 40};
    WorthResult result;
    assert_true(worth_result(COUNTS, &result));
    EloEstimate e = elo_estimate(COUNTS, 5);
    assert_near(result.nelo, e.nelo, 0);
    assert_close(1.959963984540054 * result.error, e.nelo_error, 1e-15);
}

static void the_worth_in_logistic_elo_has_the_spread_of_the_games(void **state) {
    (void)state;
    static const double COUNTS[] = {39, 2226, 31451, 2412, 40};
    EloEstimate e = elo_estimate(COUNTS, 5);
    Worth elo = worth_in_elo(&(Worth){e.nelo, -e.nelo, 0}, COUNTS);
    assert_near(elo.mean, e.elo, 1e-9);
    assert_near(elo.low, -e.elo, 1e-9);
    assert_near(elo.high, 0, 1e-12);
}

static void counts_that_say_too_little_are_not_read(void **state) {
    (void)state;
    WorthResult result;
    assert_true(worth_result((double[]){2, 3, 90, 3, 2}, &result));
    assert_false(worth_result((double[]){2, 3, 89, 3, 2}, &result));
    assert_false(worth_result((double[]){2, 2, 91, 3, 2}, &result));
    assert_false(worth_result((double[]){2, 3, 91, 4, 0}, &result));
    assert_false(worth_result((double[5]){0}, &result));
}

// How far the logarithm of the normal density at z standard errors from the estimate is off that of
// the likelihood of the counts, where every other parameter is the most likely one; as a share.
static double misfit(const double counts[5], double z) {
    WorthResult result;
    assert_true(worth_result(counts, &result));
    double other = result.nelo + z * result.error;
    double llr = z > 0 ? sprt_llr(SPRT_NORMALIZED, result.nelo, other, counts, 5)
                       : -sprt_llr(SPRT_NORMALIZED, other, result.nelo, counts, 5);
    return fabs(llr / (z * z / 2) + 1);
}

static double misfit_at_all(const double counts[5]) {
    static const double AT[] = {-3, -2, -1, 1, 2, 3};
    double sum = 0;
    for (int i = 0; i < 6; i++)
        sum += misfit(counts, AT[i]) / 6;
    return sum;
}

// Over tests of books with few and with many draws, and of patches that are worth up to 30.
static double mean_misfit(int pairs) {
    enum { COUNT = 300 };
    static PairSource source;
    double sum = 0;
    pair_source_seed(&source, 1);
    for (int i = 0; i < COUNT; i++) {
        double counts[5] = {0};
        double share = 0.34 + 0.5 * pair_source_uniform(&source);
        assert_true(pair_source_set(&source, share, 60 * pair_source_uniform(&source) - 30));
        pair_source_play(&source, pairs, counts);
        sum += misfit_at_all(counts) / COUNT;
    }
    return sum;
}

static void the_likelihood_of_counts_is_nearly_normal(void **state) {
    (void)state;
    assert_true(mean_misfit(500) < 0.025);
    assert_true(mean_misfit(4000) < 0.0125);
    assert_true(misfit_at_all((double[]){39, 2226, 31451, 2412, 40}) < 0.001);
}

// ---- patches whose worth is known ---------------------------------------------------------------

// Batches of 1024 pairs, so that it is a matter of a second. `make bench PARTS=worth` has those of
// 16, and more engines: the sum over the patches of 30 engines has a standard error of 6 %.
static void the_worth_of_what_passed_adds_up(void **state) {
    (void)state;
    static PairSource source;
    WorthTrial trial = {-1, 1, {SPRT_NORMALIZED, 0, 2, 0.05, 0.05}, 300, 1024};
    WorthSums sums = {0};
    pair_source_seed(&source, 1);
    for (int i = 0; i < 30; i++)
        worth_trial_play(&trial, &source, &sums);
    assert_near(sums.expected / sums.truth, 1, 0.15);
    assert_true(sums.printed / sums.truth > 2);
    assert_near(sums.covered / sums.passed, 0.95, 0.03);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_errors_have_a_closed_form),
        cmocka_unit_test(results_that_chance_explains_have_no_spread),
        cmocka_unit_test(no_prior_near_it_is_more_likely),
        cmocka_unit_test(exact_results_outweigh_rough_ones),
        cmocka_unit_test(fewer_than_100_tests_have_no_prior),
        cmocka_unit_test(results_that_are_all_zero_have_a_prior),
        cmocka_unit_test(the_worth_lies_between_prior_and_result),
        cmocka_unit_test(a_result_is_the_plain_estimate),
        cmocka_unit_test(the_worth_in_logistic_elo_has_the_spread_of_the_games),
        cmocka_unit_test(counts_that_say_too_little_are_not_read),
        cmocka_unit_test(the_likelihood_of_counts_is_nearly_normal),
        cmocka_unit_test(the_worth_of_what_passed_adds_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

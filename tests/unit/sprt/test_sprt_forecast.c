// How long a running test will take: the exit of a Brownian motion, and the forecast built on it.
#include "tests/unit/sprt/sprt_vectors.h"

#include "sprt/brownian.h"
#include "sprt/sprt.h"

// Between exits at ±b the closed forms from the middle are short: the time is b/mu·tanh(mu·b/var),
// the probability 1/(1 + exp(-2·mu·b/var)).
static void exits_from_the_middle_have_their_closed_forms(void **state) {
    (void)state;
    static const double DRIFTS[] = {-40, -1, -1e-3, 1e-3, 0.3, 2, 40};
    for (size_t i = 0; i < sizeof DRIFTS / sizeof *DRIFTS; i++) {
        double mu = DRIFTS[i], b = 2.5, var = 1.7;
        BrownianExit e = brownian_exit(-b, b, 0, mu, var);
        assert_close(e.time, b / mu * tanh(mu * b / var), 1e-9);
        assert_close(e.upper, 1 / (1 + exp(-2 * mu * b / var)), 1e-12);
    }
}

static void an_exit_without_drift_is_a_matter_of_distances(void **state) {
    (void)state;
    BrownianExit e = brownian_exit(-1, 3, 0.5, 0, 0.25);
    assert_near(e.upper, 1.5 / 4, 1e-15);
    assert_near(e.time, 1.5 * 2.5 / 0.25, 1e-12);
    BrownianExit beside = brownian_exit(-1, 3, 0.5, 1e-8, 0.25);
    assert_near(beside.upper, e.upper, 1e-6);
    assert_near(beside.time, e.time, 1e-5);
}

enum { CELLS = 2000 };

// A random walk on a lattice of CELLS steps between the exits, with the drift and the variance of
// the motion. `gain` is what each step adds. Its linear equations are solved by elimination.
static double walk(double width, double mu, double var, double at, double gain, double upper_end) {
    double step = width / CELLS, duration = step * step / var;
    double up = (1 + mu * duration / step) / 2, factor[CELLS], value[CELLS];
    factor[0] = value[0] = 0; // u[i] = factor[i]·u[i + 1] + value[i]
    for (int i = 1; i < CELLS; i++) {
        double pivot = 1 - (1 - up) * factor[i - 1];
        factor[i] = up / pivot;
        value[i] = (gain * duration + (1 - up) * value[i - 1]) / pivot;
    }
    double u = upper_end;
    for (int i = CELLS - 1; i >= (int)lround(at / step); i--)
        u = factor[i] * u + value[i];
    return u;
}

static void exits_agree_with_a_random_walk_of_small_steps(void **state) {
    (void)state;
    static const double KNOWN[][5] = {
        // a, b, x, mu, var
        {-2, 3, 0, 0.1, 1},
        {-2, 3, 1, -0.4, 0.5},
        {-1, 4, 3.5, -0.2, 2},
        {-3, 2, -2.5, 0.7, 0.8},
    };
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        const double *k = KNOWN[i];
        BrownianExit e = brownian_exit(k[0], k[1], k[2], k[3], k[4]);
        double width = k[1] - k[0], at = k[2] - k[0];
        assert_close(e.upper, walk(width, k[3], k[4], at, 0, 1), 1e-4);
        assert_close(e.time, walk(width, k[3], k[4], at, 1, 0), 1e-4);
    }
}

static void a_drift_that_overflows_has_an_exit_too(void **state) {
    (void)state;
    BrownianExit down = brownian_exit(-3, 3, -1, -1, 1e-3);
    assert_near(down.upper, 0, 1e-100);
    assert_near(down.time, 2, 1e-12);
    BrownianExit up = brownian_exit(-3, 3, -1, 1, 1e-3);
    assert_near(up.upper, 1, 0);
    assert_near(up.time, 4, 1e-12);
    // exp(-700) at one side of the place where the method changes, exp(-701) at the other.
    BrownianExit before = brownian_exit(-3, 3, 2.99, -0.058, 1e-3);
    BrownianExit after = brownian_exit(-3, 3, 2.99, -0.059, 1e-3);
    assert_near(before.upper, exp(-2 * 0.058 * 0.01 / 1e-3), 1e-12);
    assert_near(after.upper, exp(-2 * 0.059 * 0.01 / 1e-3), 1e-12);
}

static const SprtBounds SYMMETRIC = {SPRT_NORMALIZED, -1, 1, 0.05, 0.05};

// With symmetric bounds and an LLR of 0, the five motions start in the middle. In the normalized
// model the variance of the LLR for each pair is 2·(distance/(800/ln 10))², whatever the results.
static void a_forecast_is_the_mean_over_five_drifts(void **state) {
    (void)state;
    static const double QUANTILES[] = {0.5244, 1.2816}; // of the normal distribution: 0.7 and 0.9
    static const double COUNTS[] = {0, 25, 50, 25, 0};
    double b = log(19), distance = 2 * log(10) / 800, v = 2 * distance * distance;
    double pairs = b * b / v / 5;
    for (int i = 0; i < 2; i++) {
        double drift = QUANTILES[i] * sqrt(v / 100);
        pairs += 2 * b / drift * tanh(drift * b / v) / 5;
    }
    SprtForecast f = sprt_forecast(&(SprtState){.pairs = 100}, &SYMMETRIC, COUNTS);
    assert_close(f.pairs, pairs, 1e-9);
    assert_near(f.pass, 0.5, 1e-12);
}

static void a_forecast_follows_the_llr(void **state) {
    (void)state;
    static const double COUNTS[] = {0, 2500, 5000, 2600, 0};
    SprtState low = {.llr = -1}, high = {.llr = 2.5};
    assert_true(sprt_forecast(&low, &SYMMETRIC, COUNTS).pass < 0.3);
    assert_true(sprt_forecast(&high, &SYMMETRIC, COUNTS).pass > 0.8);
    assert_true(sprt_forecast(&high, &SYMMETRIC, COUNTS).pairs <
                sprt_forecast(&low, &SYMMETRIC, COUNTS).pairs);
}

static void a_test_with_few_pairs_is_expected_like_one_of_equal_engines(void **state) {
    (void)state;
    static const double COUNTS[] = {0, 0, 10, 21, 0};
    static const SprtBounds BOUNDS = {SPRT_LOGISTIC, 0, 5, 0.05, 0.05};
    SprtExpectation e = sprt_expect(&BOUNDS, 0.5, 0, 0);
    SprtForecast f = sprt_forecast(&(SprtState){.llr = 2}, &BOUNDS, COUNTS);
    assert_near(f.pairs, e.games / 2, 0);
    assert_near(f.pass, e.pass, 0);
}

static void a_test_without_variance_or_beyond_its_bounds_has_no_forecast(void **state) {
    (void)state;
    static const double EQUAL[] = {0, 0, 100, 0, 0}, COUNTS[] = {0, 25, 50, 25, 0};
    assert_true(isnan(sprt_forecast(&(SprtState){0}, &SYMMETRIC, EQUAL).pairs));
    assert_true(isnan(sprt_forecast(&(SprtState){.llr = 3}, &SYMMETRIC, COUNTS).pairs));
    assert_true(isnan(sprt_forecast(&(SprtState){.llr = -3}, &SYMMETRIC, COUNTS).pass));
}

// The five drifts of a test with narrow bounds are hundreds of times its hypotheses.
static void narrow_bounds_have_a_forecast(void **state) {
    (void)state;
    static const double COUNTS[] = {0, 8, 16, 8, 0};
    static const SprtBounds NARROW = {SPRT_NORMALIZED, -0.02, 0.02, 0.05, 0.05};
    SprtForecast f = sprt_forecast(&(SprtState){0}, &NARROW, COUNTS);
    assert_near(f.pass, 0.5, 1e-12);
    assert_true(f.pairs > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exits_from_the_middle_have_their_closed_forms),
        cmocka_unit_test(an_exit_without_drift_is_a_matter_of_distances),
        cmocka_unit_test(exits_agree_with_a_random_walk_of_small_steps),
        cmocka_unit_test(a_drift_that_overflows_has_an_exit_too),
        cmocka_unit_test(a_forecast_is_the_mean_over_five_drifts),
        cmocka_unit_test(a_forecast_follows_the_llr),
        cmocka_unit_test(a_test_with_few_pairs_is_expected_like_one_of_equal_engines),
        cmocka_unit_test(a_test_without_variance_or_beyond_its_bounds_has_no_forecast),
        cmocka_unit_test(narrow_bounds_have_a_forecast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

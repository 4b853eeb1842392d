// Elo estimates, plain and sequential, expectations, and the distributions beneath them.
#include "tests/unit/sprt/sprt_vectors.h"

#include "sprt/brownian.h"
#include "sprt/normal.h"
#include "sprt/sprt.h"

static void plain_estimates_agree_with_arithmetic_in_50_digits(void **state) {
    (void)state;
    json_auto_t *file = NULL;
    json_t *c, *cases = own_vectors("estimates", &file);
    size_t i;
    json_array_foreach (cases, i, c) {
        double counts[5];
        int n = member_counts(c, "results", counts);
        EloEstimate e = elo_estimate(counts, n);
        assert_close(e.elo, member(c, "elo"), 1e-9);
        assert_close(e.error, member(c, "error"), 1e-9);
        assert_close(e.nelo, member(c, "nelo"), 1e-9);
        assert_close(e.nelo_error, member(c, "nelo_error"), 1e-9);
    }
}

static void plain_estimates_agree_with_the_shared_vectors(void **state) {
    (void)state;
    json_auto_t *file = NULL;
    json_t *c, *cases = shared_vectors("fixed_games", &file);
    size_t i;
    json_array_foreach (cases, i, c) {
        double counts[5];
        int n = member_counts(c, "results", counts);
        EloEstimate e = elo_estimate(counts, n);
        assert_close(e.elo, member(c, "elo"), 1e-10);
        assert_close(e.error, member(c, "elo95"), 1e-10);
        assert_close(e.los, member(c, "los"), 1e-10);
    }
}

static void normalized_elo_and_ratios_agree_with_the_shared_vectors(void **state) {
    (void)state;
    json_auto_t *file = NULL;
    json_t *c, *cases = shared_vectors("nelo", &file);
    size_t i;
    json_array_foreach (cases, i, c) {
        double pairs[5], wdl[3];
        member_counts(c, "pentanomial", pairs);
        member_counts(c, "WDL", wdl);
        EloEstimate e = elo_estimate(pairs, 5);
        const json_t *nelo = json_object_get(c, "nelo");
        assert_close(e.nelo, member(nelo, "nelo5"), 1e-10);
        assert_close(e.nelo_error, member(nelo, "nelo5_delta"), 1e-10);
        assert_close(e.pair_ratio, member(c, "pairs_ratio"), 1e-10);
        assert_close(e.draw_ratio, member(json_object_get(c, "pentanomial_stats"), "draw_ratio"),
                     1e-10);
        const json_t *games = json_object_get(c, "trinomial_stats");
        EloEstimate g = elo_estimate((double[3]){wdl[2], wdl[1], wdl[0]}, 3);
        assert_close(g.draw_ratio, member(games, "draw_ratio"), 1e-10);
        assert_close(g.nelo, member(games, "nelo3"), 1e-10);
        assert_true(isnan(g.pair_ratio));
    }
}

// Figures that Fishtest's own code gives for a test with normalized bounds <0,2>: plain Elo, its
// error, LOS; sequential Elo, interval, LOS.
static const struct {
    double counts[5], plain[3], sequential[4];
} FISHTEST[] = {
    {{0, 0, 0, 0, 0}, {0, 1199.826, .5}, {0, -1000, 1000, .5}},
    {{0, 0, 1, 0, 0}, {0, 34.02073, .5}, {0, -34.02073, 34.02073, .5}},
    {{1, 0, 0, 0, 0}, {-1041.084378, 395.591934, 0}, {-1000, -1000, -408.642, 0}},
    {{10, 20, 40, 22, 8},
     {-3.47447167, 36.48419484, .4256931},
     {-3.474472, -39.99712, 32.97127, .425693}},
    {{0, 5, 90, 10, 0},
     {8.27368189, 12.47431977, .90337272},
     {8.273682, -4.18997, 20.75867, .903373}},
    {{43, 61, 144, 55, 37},
     {-9.19897327, 20.92723668, .19407223},
     {-9.198973, -30.159617, 11.694856, .194072}},
    {{1187, 7410, 13475, 7378, 1164},
     {-.4426078, 1.72985903, .30801388},
     {-.43665, -2.168312, 1.297411, .310677}},
    {{500, 5000, 9000, 5300, 560},
     {3.58369649, 2.01612973, .99975315},
     {3.382902, 1.180402, 5.569479, .998645}},
    {{39, 2226, 31451, 2412, 40},
     {.90298105, .66253149, .9962221},
     {.817408, .125156, 1.495998, .989446}},
    {{10789, 19328, 33806, 19402, 10543},
     {-.77357734, 1.2775799, .11765886},
     {-.504103, -2.392286, 1.435867, .302667}},
    {{0, 0, 0, 0, 100}, {1199.826, 0, 1}, {1000, 925.724, 1000, 1}},
};

static void estimates_agree_with_fishtest(void **state) {
    (void)state;
    static const SprtBounds BOUNDS = {SPRT_NORMALIZED, 0, 2, 0.05, 0.05};
    for (size_t i = 0; i < sizeof FISHTEST / sizeof *FISHTEST; i++) {
        const double *plain = FISHTEST[i].plain, *sequential = FISHTEST[i].sequential;
        EloEstimate e = elo_estimate(FISHTEST[i].counts, 5);
        assert_close(e.elo, plain[0], 1e-6);
        assert_close(e.error, plain[1], 1e-6);
        assert_close(e.los, plain[2], 1e-7);
        SprtEstimate s = sprt_estimate(&BOUNDS, 0.05, FISHTEST[i].counts, 5);
        assert_close(s.elo, sequential[0], 1e-6);
        assert_close(s.low, sequential[1], 1e-6);
        assert_close(s.high, sequential[2], 1e-6);
        assert_near(s.los, sequential[3], 1e-6);
    }
}

static void wins_losses_and_draws_give_an_estimate_too(void **state) {
    (void)state;
    EloEstimate e = elo_estimate((double[3]){300, 400, 350}, 3);
    assert_near(e.elo, 16.55707406, 1e-8);
    assert_near(e.error, 16.55425053, 1e-8);
    assert_near(e.los, .97527917, 1e-8);
    assert_near(e.draw_ratio, 400. / 1050, 1e-15);
}

static void sequential_estimates_agree_with_the_shared_vectors(void **state) {
    (void)state;
    json_auto_t *file = NULL;
    json_t *c, *cases = shared_vectors("analytics", &file);
    size_t i;
    json_array_foreach (cases, i, c) {
        double counts[5], ends[2];
        int n = member_counts(c, "results", counts);
        SprtModel model = is_normalized(c, "elo_model") ? SPRT_NORMALIZED : SPRT_LOGISTIC;
        SprtBounds bounds = {model, member(c, "elo0"), member(c, "elo1"), member(c, "alpha"),
                             member(c, "beta")};
        SprtEstimate e = sprt_estimate(&bounds, member(c, "p"), counts, n);
        const json_t *known = json_object_get(c, "analytics");
        member_counts(known, "ci", ends);
        assert_near(e.elo, member(known, "elo"), 1e-6);
        assert_near(e.low, ends[0], 1e-6);
        assert_near(e.high, ends[1], 1e-6);
        assert_near(e.los, member(known, "LOS"), 1e-8);
    }
}

// Drift, deviation, time, value, and the probability that Fishtest's code gives for exits at
// -2.944439 and 2.944439.
static void brownian_outcomes_agree_with_fishtest(void **state) {
    (void)state;
    static const double EXIT = 2.944439;
    static const double KNOWN[][5] = {
        {0, .05, 1000, .5, .6237848971},        {.002, .05, 1000, 1, .262820306},
        {-.002, .05, 2000, -EXIT, .7869015131}, {.002, .05, 2000, EXIT, .2130984869},
        {.0005, .005, 500, .1, .0898562474},
    };
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        const double *k = KNOWN[i];
        Brownian motion = {-EXIT, EXIT, k[0], k[1]};
        assert_near(brownian_outcome_cdf(&motion, k[2], k[3]), k[4], 1e-9);
    }
}

static void brownian_outcomes_agree_with_the_shared_vectors(void **state) {
    (void)state;
    json_auto_t *file = NULL;
    json_t *c, *cases = json_object_get(shared_vectors("primitives", &file), "brownian");
    size_t i;
    json_array_foreach (cases, i, c) {
        Brownian motion = {member(c, "a"), member(c, "b"), member(c, "mu"), member(c, "sigma")};
        double p = brownian_outcome_cdf(&motion, member(c, "T"), member(c, "y"));
        assert_near(p, member(c, "outcome_cdf"), 1e-9);
    }
}

static void check_function(const json_t *primitives, const char *name, double (*f)(double),
                           double tolerance) {
    json_t *c, *cases = json_object_get(primitives, name);
    size_t i;
    assert_non_null(cases);
    json_array_foreach (cases, i, c) {
        double x[2] = {0};
        counts_of(c, x);
        assert_close(f(x[0]), x[1], tolerance);
    }
}

static void primitive_functions_agree_with_the_shared_vectors(void **state) {
    (void)state;
    json_auto_t *file = NULL;
    json_t *primitives = shared_vectors("primitives", &file);
    check_function(primitives, "L", elo_to_score, 1e-15);
    check_function(primitives, "elo", score_to_elo, 1e-12);
    check_function(primitives, "Phi", normal_cdf, 1e-15);
    check_function(primitives, "Phi_inv", normal_quantile, 1e-13);
}

static void normal_quantiles_hold_in_the_far_tails(void **state) {
    (void)state;
    assert_near(normal_quantile(0.975), 1.959963984540054, 1e-14);
    assert_near(normal_quantile(0.5), 0, 1e-15);
    assert_near(normal_quantile(1e-300), -37.0470962993612, 1e-12);
    assert_true(isinf(normal_quantile(0)));
    // ln Q(z) = -z^2/2 - ln(z sqrt(2 pi)) + ln(1 - 1/z^2 + …); at z = 50 that is -1254.8313611394.
    assert_near(normal_upper_quantile_log(1254.8313611394), 50, 1e-10);
}

// Fishtest's calculator at draw ratio 0.49 and RMS bias 191: bounds, Elo, pass, games.
static void expectations_agree_with_the_calculator(void **state) {
    (void)state;
    static const double KNOWN[][5] = {
        {0, 2, 0, .05, 159942},         {0, 2, .25, .18244, 221573},
        {0, 2, .5, .486163, 261567},    {0, 2, 1, .94447, 164151},
        {.5, 2.5, 0, .01193, 115649},   {.5, 2.5, .25, .048701, 158910},
        {.5, 2.5, .5, .178348, 220361}, {.5, 2.5, 1, .796, 227528},
    };
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        const double *k = KNOWN[i];
        SprtBounds bounds = {SPRT_NORMALIZED, k[0], k[1], 0.05, 0.05};
        SprtExpectation e = sprt_expect(&bounds, 0.49, 191, k[2]);
        assert_near(e.pass, k[3], 6e-6);
        assert_near(e.games, k[4], 0.6);
    }
}

static void expectations_are_smooth_and_finite_everywhere(void **state) {
    (void)state;
    SprtBounds bounds = {SPRT_LOGISTIC, -4, 4, 0.05, 0.1};
    SprtExpectation middle = sprt_expect(&bounds, 0.5, 0, 0);
    SprtExpectation beside = sprt_expect(&bounds, 0.5, 0, 1e-5);
    assert_near(beside.pass, middle.pass, 1e-5);
    assert_near(beside.games / middle.games, 1, 1e-5);
    assert_near(sprt_expect(&bounds, 0.5, 0, 900).pass, 1, 0);
    assert_near(sprt_expect(&bounds, 0.5, 0, -900).pass, 0, 1e-100);
    assert_true(sprt_expect(&bounds, 0.5, 0, 900).games > 0);
    assert_true(isnan(sprt_expect(&bounds, 0.99, 300, 0).pass));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_estimates_agree_with_arithmetic_in_50_digits),
        cmocka_unit_test(plain_estimates_agree_with_the_shared_vectors),
        cmocka_unit_test(normalized_elo_and_ratios_agree_with_the_shared_vectors),
        cmocka_unit_test(estimates_agree_with_fishtest),
        cmocka_unit_test(wins_losses_and_draws_give_an_estimate_too),
        cmocka_unit_test(sequential_estimates_agree_with_the_shared_vectors),
        cmocka_unit_test(brownian_outcomes_agree_with_fishtest),
        cmocka_unit_test(brownian_outcomes_agree_with_the_shared_vectors),
        cmocka_unit_test(primitive_functions_agree_with_the_shared_vectors),
        cmocka_unit_test(normal_quantiles_hold_in_the_far_tails),
        cmocka_unit_test(expectations_agree_with_the_calculator),
        cmocka_unit_test(expectations_are_smooth_and_finite_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// What a test will do before it begins: sprt_plan() against simulated tests, which the library
// itself decides.
#include "tests/unit/sprt/sprt_vectors.h"

#include "sprt/law.h"
#include "sprt/sprt.h"

// Laws of pairs of equal engines: a book of unbalanced openings, one of balanced openings in which
// nearly nine of ten pairs are even, and independent games of which half are drawn.
static const double UNBALANCED[5] = {0.0055, 0.2345, 0.52, 0.2345, 0.0055};
static const double DRAWISH[5] = {0.001, 0.06, 0.878, 0.06, 0.001};
static const double WILD[5] = {0.0625, 0.25, 0.375, 0.25, 0.0625};

typedef struct Trial {
    SprtBounds bounds;
    const double *even;
    double elo;
    int batch, pairs_max, runs;
} Trial;

typedef struct Simulated {
    double accepted, rejected, pairs, pairs_error; // the standard error of the mean
} Simulated;

static uint64_t dice;

// xorshift64* (Vigna 2016).
static double random_share(void) {
    dice ^= dice >> 12;
    dice ^= dice << 25;
    dice ^= dice >> 27;
    return (double)((dice * UINT64_C(2685821657736338717)) >> 11) / 9007199254740992.0;
}

static SprtState play(const Trial *trial, const double law[5]) {
    SprtState state = {0};
    double counts[5] = {0};
    while (state.verdict == SPRT_OPEN && state.pairs < trial->pairs_max) {
        for (int i = 0; i < trial->batch; i++) {
            double share = random_share();
            int outcome = 0;
            while (outcome < 4 && (share -= law[outcome]) >= 0)
                outcome++;
            counts[outcome]++;
        }
        sprt_update(&state, &trial->bounds, trial->batch, counts);
    }
    return state;
}

static Simulated simulate(const Trial *trial) {
    double law[5], squares = 0, runs = trial->runs;
    Simulated sum = {0};
    law_tilt(trial->even, trial->bounds.model, trial->elo, law);
    dice = UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < trial->runs; i++) {
        SprtState end = play(trial, law);
        sum.accepted += (end.verdict == SPRT_ACCEPTED) / runs;
        sum.rejected += (end.verdict == SPRT_REJECTED) / runs;
        sum.pairs += end.pairs / runs;
        squares += end.pairs * end.pairs / runs;
    }
    sum.pairs_error = sqrt(fmax(0, squares - sum.pairs * sum.pairs) / runs);
    return sum;
}

// The standard error of a share, of one run if no run or each is of that kind.
static double share_error(double share, double runs) {
    double inside = fmax(1 / runs, fmin(share, 1 - 1 / runs));
    return sqrt(inside * (1 - inside) / runs);
}

#define BOUNDS(MODEL, LOW, HIGH)                                                                   \
    { SPRT_##MODEL, LOW, HIGH, 0.05, 0.05 }

static const Trial TRIALS[] = {
    {BOUNDS(LOGISTIC, 0, 10), UNBALANCED, 0, 16, 400000, 4000},
    {BOUNDS(LOGISTIC, 0, 10), UNBALANCED, 5, 16, 400000, 3000},
    {BOUNDS(LOGISTIC, 0, 10), UNBALANCED, 10, 16, 400000, 4000},
    {BOUNDS(LOGISTIC, 0, 10), UNBALANCED, 5, 16, 800, 4000},
    {BOUNDS(LOGISTIC, 0, 10), UNBALANCED, 8, 16, 800, 4000},
    {BOUNDS(LOGISTIC, 0, 10), UNBALANCED, 1, 3, 402, 2000},
    {BOUNDS(LOGISTIC, 0, 20), WILD, 3, 16, 400000, 4000},
    {BOUNDS(LOGISTIC, -10, 5), WILD, 0, 16, 400000, 3000},
    {BOUNDS(LOGISTIC, 0, 5), DRAWISH, 5, 16, 400000, 3000},
    {BOUNDS(LOGISTIC, 0, 5), DRAWISH, 3, 16, 1600, 3000},
    {BOUNDS(NORMALIZED, 0, 10), UNBALANCED, 5, 16, 400000, 600},
    {BOUNDS(NORMALIZED, 0, 10), UNBALANCED, 8, 16, 3200, 1500},
    {BOUNDS(NORMALIZED, 0, 10), DRAWISH, 3, 16, 3200, 1500},
    {{SPRT_NORMALIZED, -5, 10, 0.01, 0.2}, WILD, 0, 16, 400000, 2000},
};

// Three standard errors, and the accuracy that the header states.
static void a_plan_agrees_with_simulated_tests(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof TRIALS / sizeof *TRIALS; i++) {
        const Trial *t = &TRIALS[i];
        SprtPlan plan = sprt_plan(&t->bounds, t->even, t->elo, t->pairs_max);
        Simulated s = simulate(t);
        print_message("trial %zu: accepted %.4f (%.4f), rejected %.4f (%.4f), pairs %.1f (%.1f ± "
                      "%.1f)\n",
                      i, plan.accepted, s.accepted, plan.rejected, s.rejected, plan.pairs, s.pairs,
                      s.pairs_error);
        assert_near(plan.accepted, s.accepted, 3 * share_error(s.accepted, t->runs));
        assert_near(plan.rejected, s.rejected, 3 * share_error(s.rejected, t->runs));
        assert_near(plan.pairs, s.pairs, 3 * s.pairs_error + 1);
        assert_near(plan.accepted + plan.rejected + plan.undecided, 1, 1e-12);
    }
}

// Fishtest's bounds, 20,000 and 12,000 tests simulated by a program of its own, with at most
// 800,000 games (shared/reference/sprt.md, section 9).
static void long_tests_agree_with_published_simulations(void **state) {
    (void)state;
    static const double KNOWN[][5] = {
        // true difference, accepted and its error, games and their error
        {0, 0.0492, 0.0020, 157959, 1028},
        {1, 0.4773, 0.0046, 253854, 1736},
        {2, 0.9467, 0.0021, 158193, 1029},
    };
    SprtBounds bounds = BOUNDS(NORMALIZED, 0, 2);
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        const double *k = KNOWN[i];
        SprtPlan plan = sprt_plan(&bounds, UNBALANCED, k[0], 400000);
        assert_near(plan.accepted, k[1], 3 * k[2]);
        assert_near(2 * plan.pairs, k[3], 3 * k[4]);
    }
    assert_near(sprt_plan(&bounds, UNBALANCED, 1, 400000).undecided, 0.032, 0.005);
}

static void a_plan_is_finite_and_within_its_length_everywhere(void **state) {
    (void)state;
    static const double LENGTHS[] = {1, 16, 1000, 400000, 1e8};
    static const double TRUTHS[] = {-200, -8, 0, 0.01, 1, 8, 200};
    static const SprtBounds ALL[] = {BOUNDS(NORMALIZED, 0, 0.01),
                                     BOUNDS(NORMALIZED, 0, 2),
                                     BOUNDS(LOGISTIC, -1.75, 0.25),
                                     BOUNDS(LOGISTIC, 0, 300),
                                     {SPRT_LOGISTIC, 0, 5, 1e-4, 0.49}};
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++)
        for (size_t t = 0; t < sizeof TRUTHS / sizeof *TRUTHS; t++)
            for (size_t k = 0; k < sizeof LENGTHS / sizeof *LENGTHS; k++) {
                SprtPlan p = sprt_plan(&ALL[i], WILD, TRUTHS[t], LENGTHS[k]);
                assert_true(p.accepted >= 0 && p.rejected >= 0 && p.undecided >= 0);
                assert_near(p.accepted + p.rejected + p.undecided, 1, 1e-12);
                assert_true(p.pairs >= 0 && p.pairs <= LENGTHS[k]);
                assert_true(k == 0 ||
                            p.undecided <=
                                sprt_plan(&ALL[i], WILD, TRUTHS[t], LENGTHS[k - 1]).undecided +
                                    2e-3);
            }
}

static void bounds_without_an_llr_have_no_plan(void **state) {
    (void)state;
    SprtBounds bounds = BOUNDS(NORMALIZED, 0, 2000);
    assert_true(isnan(sprt_plan(&bounds, WILD, 0, 1000).accepted));
    assert_true(isnan(sprt_plan(&bounds, WILD, 0, 1000).pairs));
}

static void a_tilted_law_has_the_difference_that_was_asked_for(void **state) {
    (void)state;
    double law[5];
    for (int elo = -40; elo <= 40; elo += 8) {
        law_tilt(DRAWISH, SPRT_LOGISTIC, elo, law);
        assert_near(law_difference(law, SPRT_LOGISTIC), elo, 1e-6);
        law_tilt(WILD, SPRT_NORMALIZED, elo, law);
        assert_near(law_difference(law, SPRT_NORMALIZED), elo, 1e-6);
        assert_near(law[0] + law[1] + law[2] + law[3] + law[4], 1, 1e-12);
    }
}

// The LLR of very many pairs is the sum of what they add.
static void a_step_is_the_llr_of_one_pair(void **state) {
    (void)state;
    double many[5];
    for (int i = 0; i < 5; i++)
        many[i] = 1e6 * UNBALANCED[i];
    LlrStep step = llr_step(SPRT_NORMALIZED, 0, 2, UNBALANCED);
    assert_near(step.mean * 1e6 / sprt_llr(SPRT_NORMALIZED, 0, 2, many, 5), 1, 1e-9);
    assert_near(step.var / (2 * pow(2 * log(10) / 800, 2)), 1, 0.01);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_agrees_with_simulated_tests),
        cmocka_unit_test(long_tests_agree_with_published_simulations),
        cmocka_unit_test(a_plan_is_finite_and_within_its_length_everywhere),
        cmocka_unit_test(bounds_without_an_llr_have_no_plan),
        cmocka_unit_test(a_tilted_law_has_the_difference_that_was_asked_for),
        cmocka_unit_test(a_step_is_the_llr_of_one_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

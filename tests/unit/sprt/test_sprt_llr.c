// Log-likelihood ratios against figures found by other means.
#include "tests/unit/sprt/sprt_vectors.h"

#include "sprt/sprt.h"

static void check_llr(const json_t *cases) {
    size_t i;
    json_t *c;
    json_array_foreach (cases, i, c) {
        double counts[5];
        int n = member_counts(c, "results", counts);
        SprtModel model = is_normalized(c, "model") ? SPRT_NORMALIZED : SPRT_LOGISTIC;
        double llr = sprt_llr(model, member(c, "elo0"), member(c, "elo1"), counts, n);
        json_t *exact = json_object_get(c, "llr_exact");
        assert_close(llr, json_is_null(exact) ? NAN : member(c, "llr_exact"), 1e-9);
    }
}

static void check_own(const char *section) {
    json_auto_t *file = NULL;
    check_llr(own_vectors(section, &file));
}

static void check_shared(const char *section) {
    json_auto_t *file = NULL;
    check_llr(shared_vectors(section, &file));
}

static void pentanomial_llr_agrees_with_bisection_in_50_digits(void **state) {
    (void)state;
    check_own("llr_pentanomial");
}
static void trinomial_llr_agrees_with_bisection_in_50_digits(void **state) {
    (void)state;
    check_own("llr_trinomial");
}
static void pentanomial_llr_agrees_with_the_shared_vectors(void **state) {
    (void)state;
    check_shared("llr_pentanomial");
}
static void trinomial_llr_agrees_with_the_shared_vectors(void **state) {
    (void)state;
    check_shared("llr_trinomial");
}
static void llr_of_wide_bounds_agrees_with_the_shared_vectors(void **state) {
    (void)state;
    check_shared("llr_stress_wide_bounds");
}

static void llr_of_published_pages_agrees_to_the_printed_digits(void **state) {
    (void)state;
    json_auto_t *file = NULL;
    json_t *page, *pages = shared_vectors("published_pages", &file);
    size_t i;
    json_array_foreach (pages, i, page) {
        double n[5], elo0, elo1;
        if (!json_object_get(page, "LLR"))
            continue;
        member_counts(page, "pentanomial", n);
        elo0 = member(page, "elo0"), elo1 = member(page, "elo1");
        assert_near(sprt_llr(SPRT_NORMALIZED, elo0, elo1, n, 5), member(page, "LLR"), 6e-6);
    }
}

// Figures that Fishtest's own code gives: normalized <0,2>, <0.5,2.5>, <-1.75,0.25>, logistic
// {0,2}.
static const struct {
    double counts[5], llr[4];
} FISHTEST[] = {
    {{0, 0, 1, 0, 0}, {-3.346e-05, -5.036e-05, 2.506e-05, -.00345178}},
    {{1, 0, 0, 0, 0}, {-.00817804, -.00819458, -.0081199, -.00578456}},
    {{10, 20, 40, 22, 8}, {-.01857147, -.02022745, -.01277355, -.02604947}},
    {{0, 5, 90, 10, 0}, {.104255, .1025591, .11019772, .35744143}},
    {{43, 61, 144, 55, 37}, {-.1406363, -.1462647, -.1209362, -.17903523}},
    {{1187, 7410, 13475, 7378, 1164}, {-1.72875362, -2.23596492, .0465217, -3.70355359}},
    {{500, 5000, 9000, 5300, 560}, {3.37147139, 3.0342191, 4.55184734, 4.88240297}},
    {{39, 2226, 31451, 2412, 40}, {2.93690982, 2.33790002, 5.03359631, -1.68929674}},
    {{10789, 19328, 33806, 19402, 10543}, {-6.07042907, -7.6255719, -.62716792, -8.34820882}},
    {{100, 0, 0, 0, 0}, {-.81739553, -.81904383, -.81159952, -.57731469}},
    {{0, 0, 0, 0, 100}, {.81076816, .809103, .81657007, .57400089}},
};

static void llr_agrees_with_fishtest(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof FISHTEST / sizeof *FISHTEST; i++) {
        const double *n = FISHTEST[i].counts, *llr = FISHTEST[i].llr;
        assert_near(sprt_llr(SPRT_NORMALIZED, 0, 2, n, 5), llr[0], 1e-8);
        assert_near(sprt_llr(SPRT_NORMALIZED, 0.5, 2.5, n, 5), llr[1], 1e-8);
        assert_near(sprt_llr(SPRT_NORMALIZED, -1.75, 0.25, n, 5), llr[2], 1e-8);
        assert_near(sprt_llr(SPRT_LOGISTIC, 0, 2, n, 5), llr[3], 1e-8);
    }
}

static void turning_the_board_turns_the_sign(void **state) {
    (void)state;
    const double n[5] = {5, 240, 510, 250, 6}, turned[5] = {6, 250, 510, 240, 5};
    for (int m = SPRT_LOGISTIC; m <= SPRT_NORMALIZED; m++)
        assert_near(sprt_llr(m, -1, 7, n, 5), -sprt_llr(m, -7, 1, turned, 5), 1e-12);
}

static void equal_hypotheses_have_ratio_zero(void **state) {
    (void)state;
    const double n[5] = {5, 240, 510, 250, 6};
    assert_near(sprt_llr(SPRT_NORMALIZED, 2, 2, n, 5), 0, 0);
    assert_near(sprt_llr(SPRT_LOGISTIC, 2, 2, n, 5), 0, 0);
}

static void hypotheses_without_an_estimate_give_nan(void **state) {
    (void)state;
    const double pairs[5] = {5, 240, 510, 250, 6}, games[3] = {300, 400, 350};
    assert_true(isnan(sprt_llr(SPRT_NORMALIZED, -300, -100, pairs, 5)));
    assert_true(isnan(sprt_llr(SPRT_NORMALIZED, 0, 232, pairs, 5)));
    assert_false(isnan(sprt_llr(SPRT_NORMALIZED, 0, 231, pairs, 5)));
    assert_true(isnan(sprt_llr(SPRT_NORMALIZED, 0, 341, games, 3)));
    assert_false(isnan(sprt_llr(SPRT_NORMALIZED, 0, 340, games, 3)));
    assert_true(isnan(sprt_llr(SPRT_LOGISTIC, 0, 1e9, pairs, 5)));
    assert_true(isnan(sprt_llr(SPRT_LOGISTIC, NAN, 2, pairs, 5)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pentanomial_llr_agrees_with_bisection_in_50_digits),
        cmocka_unit_test(trinomial_llr_agrees_with_bisection_in_50_digits),
        cmocka_unit_test(pentanomial_llr_agrees_with_the_shared_vectors),
        cmocka_unit_test(trinomial_llr_agrees_with_the_shared_vectors),
        cmocka_unit_test(llr_of_wide_bounds_agrees_with_the_shared_vectors),
        cmocka_unit_test(llr_of_published_pages_agrees_to_the_printed_digits),
        cmocka_unit_test(llr_agrees_with_fishtest),
        cmocka_unit_test(turning_the_board_turns_the_sign),
        cmocka_unit_test(equal_hypotheses_have_ratio_zero),
        cmocka_unit_test(hypotheses_without_an_estimate_give_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

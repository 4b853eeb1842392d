// The running test: bounds, overshoot correction, verdicts.
#include "tests/unit/sprt/sprt_vectors.h"

#include "sprt/sprt.h"

static SprtBounds bounds_of(const json_t *c) {
    SprtModel model = is_normalized(c, "elo_model") ? SPRT_NORMALIZED : SPRT_LOGISTIC;
    bool own = json_object_get(c, "alpha") != NULL;
    return (SprtBounds){model, member(c, "elo0"), member(c, "elo1"),
                        own ? member(c, "alpha") : 0.05, own ? member(c, "beta") : 0.05};
}

static const char *state_name(const SprtState *state) {
    static const char *const NAMES[] = {"", "accepted", "rejected"};
    return NAMES[state->verdict];
}

static void check_ladders(const SprtState *state, const json_t *overshoot) {
    if (!json_is_object(overshoot)) {
        assert_true(state->uncorrected);
        return;
    }
    assert_false(state->uncorrected);
    assert_near(state->pairs, member(overshoot, "last_update"), 0);
    assert_near(state->skipped, member(overshoot, "skipped_updates"), 0);
    assert_close(state->ref0, member(overshoot, "ref0"), 1e-9);
    assert_close(state->m0, member(overshoot, "m0"), 1e-9);
    assert_close(state->sq0, member(overshoot, "sq0"), 1e-9);
    assert_close(state->ref1, member(overshoot, "ref1"), 1e-9);
    assert_close(state->m1, member(overshoot, "m1"), 1e-9);
    assert_close(state->sq1, member(overshoot, "sq1"), 1e-9);
}

static void check_checkpoint(const json_t *checkpoints, const SprtState *state) {
    size_t i;
    json_t *c;
    json_array_foreach (checkpoints, i, c) {
        if (member(c, "pairs") != state->pairs)
            continue;
        assert_close(state->llr, member(c, "llr"), 1e-9);
        check_ladders(state, json_object_get(c, "overshoot"));
    }
}

// Plays the outcomes of `c` until the verdict or their end.
static SprtState play(const json_t *c, bool corrected) {
    SprtBounds bounds = bounds_of(c);
    int batch = (int)member(c, "batch_size_pairs"), pairs = 0;
    SprtState state = {.uncorrected = !corrected};
    double counts[5] = {0};
    for (const char *o = json_string_value(json_object_get(c, "outcomes"));
         *o && state.verdict == SPRT_OPEN; o++) {
        counts[*o - '0']++;
        if (++pairs % batch != 0)
            continue;
        sprt_update(&state, &bounds, batch, counts);
        if (corrected)
            check_checkpoint(json_object_get(c, "checkpoints"), &state);
    }
    return state;
}

static void check_sequence(const json_t *c) {
    SprtBounds bounds = bounds_of(c);
    SprtState state = play(c, true);
    assert_string_equal(state_name(&state), json_string_value(json_object_get(c, "state")));
    if (!json_is_number(json_object_get(c, "stop_pairs")))
        return;
    assert_near(state.pairs, member(c, "stop_pairs"), 0);
    assert_close(state.llr, member(c, "llr_at_stop"), 1e-9);
    assert_near(sprt_lower_now(&state, &bounds), sprt_lower(&bounds) + member(c, "o0"), 1e-9);
    assert_near(sprt_upper_now(&state, &bounds), sprt_upper(&bounds) - member(c, "o1"), 1e-9);
}

static void sequences_stop_where_arithmetic_in_50_digits_stops(void **state) {
    (void)state;
    json_auto_t *file = NULL;
    json_t *c, *cases = own_vectors("stop_sequences", &file);
    size_t i;
    json_array_foreach (cases, i, c) {
        check_sequence(c);
    }
}

static void sequences_stop_where_the_shared_vectors_stop(void **state) {
    (void)state;
    json_auto_t *file = NULL;
    json_t *c, *cases = shared_vectors("stop_sequences", &file);
    size_t i;
    json_array_foreach (cases, i, c) {
        check_sequence(c);
    }
}

static void uncorrected_sequences_stop_where_the_shared_vectors_stop(void **state) {
    (void)state;
    json_auto_t *file = NULL;
    json_t *c, *cases = shared_vectors("stop_sequences", &file);
    size_t i;
    json_array_foreach (cases, i, c) {
        json_t *stop = json_object_get(c, "stop_pairs_without_overshoot_correction");
        SprtState last = play(c, false);
        if (!json_is_number(json_array_get(stop, 0)))
            continue;
        assert_near(last.pairs, value_of(json_array_get(stop, 0)), 0);
        assert_string_equal(state_name(&last), json_string_value(json_array_get(stop, 1)));
    }
}

static void check_scenario(const json_t *c) {
    SprtBounds bounds = bounds_of(c);
    json_t *results, *calls = json_object_get(c, "calls_results");
    json_t *after = json_object_get(c, "after_each_call");
    SprtState state = {0};
    size_t i;
    json_array_foreach (calls, i, results) {
        double counts[5];
        const json_t *expected = json_array_get(after, i);
        counts_of(results, counts);
        sprt_update(&state, &bounds, (int)member(c, "batch_size_pairs"), counts);
        assert_close(state.llr, member(expected, "llr"), 1e-9);
        assert_string_equal(state_name(&state),
                            json_string_value(json_object_get(expected, "state")));
        check_ladders(&state, json_object_get(expected, "overshoot"));
    }
}

static void skips_purges_and_odd_batches_go_as_in_the_shared_vectors(void **state) {
    (void)state;
    json_auto_t *file = NULL;
    json_t *c, *cases = shared_vectors("update_scenarios", &file);
    size_t i;
    json_array_foreach (cases, i, c) {
        check_scenario(c);
    }
}

static const SprtBounds BOUNDS = {SPRT_LOGISTIC, 0, 10, 0.05, 0.05};

static void the_current_step_is_part_of_the_correction(void **state) {
    (void)state;
    SprtState test = {0};
    sprt_update(&test, &BOUNDS, 4, (double[5]){0, 0, 2, 2, 0});
    assert_true(test.llr > 0);
    assert_near(sprt_upper_now(&test, &BOUNDS), sprt_upper(&BOUNDS) - test.llr / 2, 1e-15);
    assert_near(sprt_lower_now(&test, &BOUNDS), sprt_lower(&BOUNDS), 0);
}

static void the_same_totals_again_change_nothing(void **state) {
    (void)state;
    SprtState test = {0}, before;
    sprt_update(&test, &BOUNDS, 4, (double[5]){0, 0, 2, 2, 0});
    before = test;
    sprt_update(&test, &BOUNDS, 4, (double[5]){0, 0, 2, 2, 0});
    assert_memory_equal(&test, &before, sizeof test);
}

static void a_skipped_batch_restarts_the_ladders_at_the_llr(void **state) {
    (void)state;
    SprtState test = {0};
    sprt_update(&test, &BOUNDS, 4, (double[5]){0, 0, 2, 2, 0});
    double heights = test.m1;
    sprt_update(&test, &BOUNDS, 4, (double[5]){0, 0, 6, 6, 0});
    assert_near(test.skipped, 7, 0);
    assert_near(test.ref0, test.llr, 0);
    assert_near(test.ref1, test.llr, 0);
    assert_near(test.m1, heights, 0);
}

static void shrunken_totals_end_the_correction_for_good(void **state) {
    (void)state;
    SprtState test = {0};
    sprt_update(&test, &BOUNDS, 4, (double[5]){0, 0, 4, 4, 0});
    sprt_update(&test, &BOUNDS, 4, (double[5]){0, 0, 2, 2, 0});
    sprt_update(&test, &BOUNDS, 4, (double[5]){0, 0, 4, 4, 0});
    assert_true(test.uncorrected);
    assert_near(sprt_upper_now(&test, &BOUNDS), sprt_upper(&BOUNDS), 0);
}

static void a_broken_batch_ends_the_correction_for_good(void **state) {
    (void)state;
    SprtState test = {0};
    sprt_update(&test, &BOUNDS, 4, (double[5]){0, 0, 3, 2, 0});
    sprt_update(&test, &BOUNDS, 4, (double[5]){0, 0, 4, 4, 0});
    assert_true(test.uncorrected);
}

static void wald_bounds_follow_alpha_and_beta(void **state) {
    (void)state;
    SprtBounds b = {SPRT_LOGISTIC, 0, 1, 0.01, 0.1};
    assert_near(sprt_lower(&b), -2.2925347571405443, 1e-15);
    assert_near(sprt_upper(&b), 4.499809670330265, 1e-15);
}

static void senseless_bounds_are_refused_with_a_reason(void **state) {
    (void)state;
    static const SprtBounds BAD[] = {
        {SPRT_NORMALIZED, 2, 2, 0.05, 0.05},    {SPRT_NORMALIZED, 2, 0, 0.05, 0.05},
        {SPRT_NORMALIZED, 0, 231, 0.05, 0.05},  {SPRT_LOGISTIC, 0, 1001, 0.05, 0.05},
        {SPRT_LOGISTIC, NAN, 2, 0.05, 0.05},    {SPRT_LOGISTIC, 0, 2, 0, 0.05},
        {SPRT_LOGISTIC, 0, 2, 0.05, 1},         {SPRT_LOGISTIC, 0, 2, 0.5, 0.5},
        {SPRT_LOGISTIC, 0, INFINITY, .05, .05}, {SPRT_LOGISTIC, 0, 2, NAN, 0.05},
    };
    assert_null(sprt_bounds_check(&BOUNDS));
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        assert_non_null(sprt_bounds_check(&BAD[i]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_stop_where_arithmetic_in_50_digits_stops),
        cmocka_unit_test(sequences_stop_where_the_shared_vectors_stop),
        cmocka_unit_test(uncorrected_sequences_stop_where_the_shared_vectors_stop),
        cmocka_unit_test(skips_purges_and_odd_batches_go_as_in_the_shared_vectors),
        cmocka_unit_test(the_current_step_is_part_of_the_correction),
        cmocka_unit_test(the_same_totals_again_change_nothing),
        cmocka_unit_test(a_skipped_batch_restarts_the_ladders_at_the_llr),
        cmocka_unit_test(shrunken_totals_end_the_correction_for_good),
        cmocka_unit_test(a_broken_batch_ends_the_correction_for_good),
        cmocka_unit_test(wald_bounds_follow_alpha_and_beta),
        cmocka_unit_test(senseless_bounds_are_refused_with_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

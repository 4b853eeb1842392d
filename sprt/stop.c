// The running test: Wald's bounds, the dynamic correction for overshoot, the verdict.
//
// The LLR moves in jumps, so it ends beyond a bound, not on it. The mean excess is estimated from
// the ladder heights H, the amounts by which each new minimum (and maximum) of the LLR exceeds the
// last one: E[H^2]/(2 E[H]), Siegmund (1985), Cor. 8.33. Both bounds move inwards by this amount.
#include "sprt/sprt.h"

#include <math.h>
#include <stddef.h>

const char *sprt_bounds_check(const SprtBounds *bounds) {
    double limit = bounds->model == SPRT_NORMALIZED ? 230 : 1000;
    if (!(fabs(bounds->elo0) <= limit && fabs(bounds->elo1) <= limit))
        return bounds->model == SPRT_NORMALIZED ? "elo0 and elo1 must be within -230 and 230"
                                                : "elo0 and elo1 must be within -1000 and 1000";
    if (!(bounds->elo0 < bounds->elo1))
        return "elo0 must be below elo1";
    if (!(bounds->alpha > 0 && bounds->alpha < 1 && bounds->beta > 0 && bounds->beta < 1))
        return "alpha and beta must be between 0 and 1";
    if (!(bounds->alpha + bounds->beta < 1))
        return "alpha and beta together must be below 1";
    return NULL;
}

double sprt_lower(const SprtBounds *bounds) {
    return log(bounds->beta / (1 - bounds->alpha));
}

double sprt_upper(const SprtBounds *bounds) {
    return log((1 - bounds->beta) / bounds->alpha);
}

double sprt_lower_now(const SprtState *state, const SprtBounds *bounds) {
    double excess = state->m0 == 0 ? 0 : -state->sq0 / (2 * state->m0);
    return sprt_lower(bounds) + excess;
}

double sprt_upper_now(const SprtState *state, const SprtBounds *bounds) {
    double excess = state->m1 == 0 ? 0 : state->sq1 / (2 * state->m1);
    return sprt_upper(bounds) - excess;
}

static void ladders_drop(SprtState *state) {
    state->ref0 = state->m0 = state->sq0 = 0;
    state->ref1 = state->m1 = state->sq1 = 0;
    state->skipped = 0;
    state->uncorrected = true;
}

static void ladder_climb(double *ref, double *sum, double *squares, double llr) {
    double height = llr - *ref;
    *sum += height;
    *squares += height * height;
    *ref = llr;
}

static void ladders_update(SprtState *state, double gained, int batch_pairs) {
    if (gained > batch_pairs) { // the jumps in between are not known: start again from here
        state->ref0 = state->ref1 = state->llr;
        state->skipped += gained - 1;
    } else if (gained > 0) {
        if (state->llr < state->ref0)
            ladder_climb(&state->ref0, &state->m0, &state->sq0, state->llr);
        if (state->llr > state->ref1)
            ladder_climb(&state->ref1, &state->m1, &state->sq1, state->llr);
    }
}

void sprt_update(SprtState *state, const SprtBounds *bounds, int batch_pairs,
                 const double counts[5]) {
    double pairs = 0;
    for (int i = 0; i < 5; i++)
        pairs += counts[i];
    double gained = pairs - state->pairs;
    state->pairs = pairs;
    state->llr = sprt_llr(bounds->model, bounds->elo0, bounds->elo1, counts, 5);
    if (gained < 0 || fmod(pairs, batch_pairs) != 0)
        ladders_drop(state);
    if (!state->uncorrected)
        ladders_update(state, gained, batch_pairs);
    state->verdict = state->llr < sprt_lower_now(state, bounds)   ? SPRT_REJECTED
                     : state->llr > sprt_upper_now(state, bounds) ? SPRT_ACCEPTED
                                                                  : SPRT_OPEN;
}

// Distributions of the outcomes of pairs with a given difference, and what a pair adds to the LLR.
// Internal to libsprt. A law has five probabilities, in the order of counts (sprt.h).
#pragma once

#include "sprt/sprt.h"

// The difference that a law has, in `unit`. Logistic Elo is limited as in score_to_elo().
double law_difference(const double law[5], SprtModel unit);
// Tilts `base` by exp(theta·outcome) until the law has the difference `elo`. The middle outcome
// keeps its share. As near as it gets, if no such law has that difference.
void law_tilt(const double base[5], SprtModel unit, double elo, double law[5]);

// The LLR is a maximum of likelihoods, so a small change of the law changes it only through
// ln(q1/q0), where q0 and q1 are the distributions that are fitted to the law under the two
// hypotheses (envelope theorem). A pair thus adds ln(q1/q0) of its outcome, to first order. NAN if
// a hypothesis has no estimate (sprt_llr).
typedef struct LlrStep {
    double mean, var; // of what one pair adds
} LlrStep;
LlrStep llr_step(SprtModel model, double elo0, double elo1, const double law[5]);

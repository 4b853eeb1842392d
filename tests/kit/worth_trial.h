// Simulated patches that an engine's developers test: what is printed of those that pass, what they
// are worth, and what the prior of sprt/worth.h makes of them.
#pragma once

#include "sprt/pair_source.h"
#include "sprt/worth.h"

typedef struct WorthTrial {
    double mean, spread; // of the worth of a patch in nElo, which is normal
    SprtBounds bounds;
    int tests;       // of an engine, at least WORTH_TESTS_MIN
    int batch_pairs; // the SPRT is asked after each batch
} WorthTrial;

// Sums over the tests that passed, in nElo, and how many of the 95 % intervals have the truth.
typedef struct WorthSums {
    double passed, truth, printed, expected, covered;
    WorthPrior prior; // of the last engine
} WorthSums;

// Tests all patches of an engine and adds those that passed.
void worth_trial_play(const WorthTrial *trial, PairSource *source, WorthSums *sums);

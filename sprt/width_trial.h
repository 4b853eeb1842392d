// Simulated tests of fixed width (width.h), which show how often the interval at their end covers
// the truth. Random numbers come from the seed alone.
#pragma once

#include "sprt/pair_source.h"
#include "sprt/width.h"

#include <stdint.h>

typedef struct WidthTrial {
    WidthRule rule;
    double draw_share; // of pairs, in (0, 1)
    double nelo;       // the true difference in normalized Elo
    int batch_pairs;   // 1 to PAIR_BATCH_MAX; the test may stop after each batch
} WidthTrial;

typedef struct WidthCoverage {
    double truth;    // the true difference in the unit of the rule
    double coverage; // share of the tests whose interval has the truth in it
    double pairs;    // their mean length
} WidthCoverage;

// Plays `runs` tests without a limit of their length. At 0 nElo the outcomes have the distribution
// of width_even_law(). At another value the outcomes beside the middle are tilted by
// exp(theta·score), and the middle keeps its share. All numbers are NAN if no such distribution has
// the value. Probabilities are rounded to 1/65536, and `truth` is the difference after that.
WidthCoverage width_simulate(const WidthTrial *trial, int runs, uint64_t seed);

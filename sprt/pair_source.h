// Random pairs of games between engines whose difference is known, for simulated tests. An outcome
// is drawn from a table with 16 random bits, and the results of a batch are counted in one word, so
// that a pair costs about a nanosecond.
#pragma once

#include "sprt/sprt.h"

#include <stdbool.h>
#include <stdint.h>

enum { PAIR_BATCH_MAX = 4095, PAIR_SLOTS = 65536 };

typedef struct PairSource {
    uint64_t random;
    double law[5];             // the probabilities of the table, multiples of 1/PAIR_SLOTS
    uint8_t field[PAIR_SLOTS]; // the position of the outcome's field in a word
} PairSource;

// Random numbers come from the seed alone.
void pair_source_seed(PairSource *source, uint64_t seed);
// Sets the law: that of width_even_law(), with the outcomes beside the middle tilted by
// exp(theta·score) to a difference of `nelo`; the middle keeps its share. False if no such law is
// within half a normalized Elo of it.
bool pair_source_set(PairSource *source, double draw_share, double nelo);
// The difference that the law has, in that unit.
double pair_source_truth(const PairSource *source, SprtModel unit);
// Adds the outcomes of 1 to PAIR_BATCH_MAX pairs.
void pair_source_play(PairSource *source, int pairs, double counts[5]);
// From 0 to 1, and of the standard normal distribution, from the same random numbers.
double pair_source_uniform(PairSource *source);
double pair_source_normal(PairSource *source);

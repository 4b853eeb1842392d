// See pair_source.h.
#include "sprt/pair_source.h"

#include "sprt/law.h"
#include "sprt/normal.h"
#include "sprt/width.h"

#include <math.h>

enum { FIELD_BITS = 12 };
static const double NELO_TOLERANCE = 0.5;

// xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators", 2016).
static uint64_t random_next(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

void pair_source_seed(PairSource *source, uint64_t seed) {
    source->random = seed * UINT64_C(0x9e3779b97f4a7c15) | 1; // never 0
}

// Fills the table, and makes `law` the distribution that the table has.
static void fill(PairSource *source) {
    double sum = 0;
    int slot = 0;
    for (int i = 0; i < 5; i++) {
        sum += source->law[i];
        int first = slot, end = i == 4 ? PAIR_SLOTS : (int)lround(sum * PAIR_SLOTS);
        while (slot < end)
            source->field[slot++] = (uint8_t)(i * FIELD_BITS);
        source->law[i] = (double)(slot - first) / PAIR_SLOTS;
    }
}

bool pair_source_set(PairSource *source, double draw_share, double nelo) {
    double base[5];
    width_even_law(draw_share, base);
    law_tilt(base, SPRT_NORMALIZED, nelo, source->law);
    fill(source);
    return fabs(pair_source_truth(source, SPRT_NORMALIZED) - nelo) <= NELO_TOLERANCE;
}

double pair_source_truth(const PairSource *source, SprtModel unit) {
    return law_difference(source->law, unit);
}

void pair_source_play(PairSource *source, int pairs, double counts[5]) {
    uint64_t fields = 0, bits = 0;
    for (int i = 0; i < pairs; i++) {
        bits = i % 4 ? bits >> 16 : random_next(&source->random);
        fields += UINT64_C(1) << source->field[bits % PAIR_SLOTS];
    }
    for (int i = 0; i < 5; i++)
        counts[i] += (double)(fields >> (i * FIELD_BITS) & ((1 << FIELD_BITS) - 1));
}

double pair_source_uniform(PairSource *source) {
    return ((double)(random_next(&source->random) >> 11) + 0.5) * 0x1p-53;
}

double pair_source_normal(PairSource *source) {
    return normal_quantile(pair_source_uniform(source));
}

// See width_trial.h. An outcome is drawn from a table with 16 random bits. The results of a batch
// are counted in one word with a field for each outcome, so that a pair costs about a nanosecond.
#include "sprt/width_trial.h"

#include "sprt/law.h"

#include <math.h>

enum { SLOTS = 65536, FIELD_BITS = 12 };
static const double NELO_TOLERANCE = 0.5;

typedef struct Source {
    uint64_t random;
    uint8_t field[SLOTS]; // the position of the outcome's field in a word
} Source;

// xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators", 2016).
static uint64_t random_next(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

// Fills the table, and makes `law` the distribution that the table has.
static void source_fill(Source *source, double law[5]) {
    double sum = 0;
    int slot = 0;
    for (int i = 0; i < 5; i++) {
        sum += law[i];
        int first = slot, end = i == 4 ? SLOTS : (int)lround(sum * SLOTS);
        while (slot < end)
            source->field[slot++] = (uint8_t)(i * FIELD_BITS);
        law[i] = (double)(slot - first) / SLOTS;
    }
}

static void play_batch(Source *source, int pairs, double counts[5]) {
    uint64_t fields = 0, bits = 0;
    for (int i = 0; i < pairs; i++) {
        bits = i % 4 ? bits >> 16 : random_next(&source->random);
        fields += UINT64_C(1) << source->field[bits % SLOTS];
    }
    for (int i = 0; i < 5; i++)
        counts[i] += (double)(fields >> (i * FIELD_BITS) & ((1 << FIELD_BITS) - 1));
}

// Further pairs never make the sum of the squared deviations from the mean smaller. So the interval
// shrinks at most as 1/pairs, and a test cannot stop before pairs·half/x, but for the curvature of
// Elo, for which a part is taken off. Until then there is no need to look at the interval.
static double next_look(const WidthInterval *interval, const WidthRule *rule, double pairs) {
    return pairs >= WIDTH_PAIRS_MIN ? 0.95 * pairs * interval->half / rule->elo : WIDTH_PAIRS_MIN;
}

static WidthInterval play(const WidthTrial *trial, Source *source, double *pairs) {
    double counts[5] = {0}, look = WIDTH_PAIRS_MIN;
    WidthInterval interval = {.stops = false};
    for (*pairs = 0; !interval.stops;) {
        play_batch(source, trial->batch_pairs, counts);
        *pairs += trial->batch_pairs;
        if (*pairs < look)
            continue;
        interval = width_interval(&trial->rule, counts);
        look = next_look(&interval, &trial->rule, *pairs);
    }
    return interval;
}

WidthCoverage width_simulate(const WidthTrial *trial, int runs, uint64_t seed) {
    Source source = {.random = seed * UINT64_C(0x9e3779b97f4a7c15) | 1}; // never 0
    double base[5], law[5], covered = 0, sum = 0;
    width_even_law(trial->draw_share, base);
    law_tilt(base, SPRT_NORMALIZED, trial->nelo, law);
    source_fill(&source, law);
    if (!(fabs(law_difference(law, SPRT_NORMALIZED) - trial->nelo) <= NELO_TOLERANCE))
        return (WidthCoverage){NAN, NAN, NAN};
    double truth = law_difference(law, trial->rule.unit);
    for (int i = 0; i < runs; i++) {
        double pairs;
        WidthInterval interval = play(trial, &source, &pairs);
        covered += interval.low <= truth && truth <= interval.high;
        sum += pairs;
    }
    return (WidthCoverage){truth, covered / runs, sum / runs};
}

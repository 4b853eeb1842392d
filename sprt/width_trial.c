// See width_trial.h. An outcome is drawn from a table with 16 random bits. The results of a batch
// are counted in one word with a field for each outcome, so that a pair costs about a nanosecond.
#include "sprt/width_trial.h"

#include "sprt/distribution.h"

#include <math.h>

enum { SLOTS = 65536, FIELD_BITS = 12, THETA_STEPS = 60 };
static const double THETA_MAX = 20;
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

static double difference_of(const double law[5], SprtModel unit) {
    double mean = 0, var = 0;
    for (int i = 0; i < 5; i++)
        mean += law[i] * i / 4;
    for (int i = 0; i < 5; i++)
        var += law[i] * (i / 4.0 - mean) * (i / 4.0 - mean);
    return unit == SPRT_LOGISTIC ? score_to_elo(mean)
                                 : (mean - 0.5) / sqrt(var) / distribution_t_per_nelo(5);
}

static void tilt(const double base[5], double theta, double law[5]) {
    double sum = 0;
    for (int i = 0; i < 5; i++)
        sum += law[i] = i == 2 ? 0 : base[i] * exp(theta * (i - 2));
    for (int i = 0; i < 5; i++)
        law[i] *= (1 - base[2]) / sum;
    law[2] = base[2];
}

static void tilt_to(double nelo, const double base[5], double law[5]) {
    double low = -THETA_MAX, high = THETA_MAX;
    for (int step = 0; step < THETA_STEPS; step++) {
        double theta = (low + high) / 2;
        tilt(base, theta, law);
        *(difference_of(law, SPRT_NORMALIZED) < nelo ? &low : &high) = theta;
    }
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
    tilt_to(trial->nelo, base, law);
    source_fill(&source, law);
    if (!(fabs(difference_of(law, SPRT_NORMALIZED) - trial->nelo) <= NELO_TOLERANCE))
        return (WidthCoverage){NAN, NAN, NAN};
    double truth = difference_of(law, trial->rule.unit);
    for (int i = 0; i < runs; i++) {
        double pairs;
        WidthInterval interval = play(trial, &source, &pairs);
        covered += interval.low <= truth && truth <= interval.high;
        sum += pairs;
    }
    return (WidthCoverage){truth, covered / runs, sum / runs};
}

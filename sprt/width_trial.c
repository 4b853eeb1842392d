// See width_trial.h.
#include "sprt/width_trial.h"

#include "sprt/pair_source.h"

#include <math.h>

// Further pairs never make the sum of the squared deviations from the mean smaller. So the interval
// shrinks at most as 1/pairs, and a test cannot stop before pairs·half/x, but for the curvature of
// Elo, for which a part is taken off. Until then there is no need to look at the interval.
static double next_look(const WidthInterval *interval, const WidthRule *rule, double pairs) {
    return pairs >= WIDTH_PAIRS_MIN ? 0.95 * pairs * interval->half / rule->elo : WIDTH_PAIRS_MIN;
}

static WidthInterval play(const WidthTrial *trial, PairSource *source, double *pairs) {
    double counts[5] = {0}, look = WIDTH_PAIRS_MIN;
    WidthInterval interval = {.stops = false};
    for (*pairs = 0; !interval.stops;) {
        pair_source_play(source, trial->batch_pairs, counts);
        *pairs += trial->batch_pairs;
        if (*pairs < look)
            continue;
        interval = width_interval(&trial->rule, counts);
        look = next_look(&interval, &trial->rule, *pairs);
    }
    return interval;
}

WidthCoverage width_simulate(const WidthTrial *trial, int runs, uint64_t seed) {
    PairSource source;
    double covered = 0, sum = 0;
    pair_source_seed(&source, seed);
    if (!pair_source_set(&source, trial->draw_share, trial->nelo))
        return (WidthCoverage){NAN, NAN, NAN};
    double truth = pair_source_truth(&source, trial->rule.unit);
    for (int i = 0; i < runs; i++) {
        double pairs;
        WidthInterval interval = play(trial, &source, &pairs);
        covered += interval.low <= truth && truth <= interval.high;
        sum += pairs;
    }
    return (WidthCoverage){truth, covered / runs, sum / runs};
}

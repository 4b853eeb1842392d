// See width.h.
#include "sprt/width.h"

#include "sprt/distribution.h"
#include "sprt/normal.h"

#include <math.h>
#include <stddef.h>

static const double UPPER_95 = 0.975; // between 1 - this and this lie 95 %

const char *width_rule_check(const WidthRule *rule) {
    return rule->elo >= WIDTH_ELO_MIN && rule->elo <= WIDTH_ELO_MAX
               ? NULL
               : "the width must be from 0.1 to 100 Elo";
}

static bool enough(const WidthRule *rule, const double counts[5]) {
    int spread_min = rule->unit == SPRT_NORMALIZED ? WIDTH_SPREAD_MIN_NORMALIZED : WIDTH_SPREAD_MIN;
    double pairs = 0, most = 0;
    for (int i = 0; i < 5; i++) {
        pairs += counts[i];
        most = fmax(most, counts[i]);
    }
    return pairs >= WIDTH_PAIRS_MIN && pairs - most >= spread_min;
}

WidthInterval width_interval(const WidthRule *rule, const double counts[5]) {
    if (!(counts[0] + counts[1] + counts[2] + counts[3] + counts[4] > 0))
        return (WidthInterval){NAN, NAN, NAN, NAN, false};
    EloEstimate e = elo_estimate(counts, 5);
    WidthInterval w = {e.nelo, e.nelo_error, e.nelo - e.nelo_error, e.nelo + e.nelo_error, false};
    bool limited = false;
    if (rule->unit == SPRT_LOGISTIC) {
        double limit = score_to_elo(1);
        w = (WidthInterval){e.elo, e.error, e.low, e.high, false};
        limited = w.low <= -limit || w.high >= limit;
    }
    w.stops = w.half <= rule->elo && !limited && enough(rule, counts);
    return w;
}

void width_even_law(double draw_share, double law[5]) {
    // The middle has the share d² + (1 - d)²/2 if a game is drawn with the probability d. The
    // larger root is the one of engines that draw more often than not; its least share is 1/3.
    double d = (1 + sqrt(fmax(0, 6 * draw_share - 2))) / 3, win = (1 - d) / 2;
    double both = win * win, one = 2 * win * d;
    double scale = (1 - draw_share) / (2 * (both + one));
    law[0] = law[4] = scale * both;
    law[1] = law[3] = scale * one;
    law[2] = draw_share;
}

double width_pairs_expected(const WidthRule *rule, double draw_share) {
    double law[5], z = normal_quantile(UPPER_95), pairs, spread_min;
    width_even_law(draw_share, law);
    if (rule->unit == SPRT_NORMALIZED) {
        pairs = pow(z / (rule->elo * distribution_t_per_nelo(5)), 2);
        spread_min = WIDTH_SPREAD_MIN_NORMALIZED;
    } else {
        double var = 2 * (law[0] / 4 + law[1] / 16);
        pairs = var * pow(z / (elo_to_score(rule->elo) - 0.5), 2);
        spread_min = WIDTH_SPREAD_MIN;
    }
    double most = fmax(law[1], law[2]);
    return fmax(fmax(WIDTH_PAIRS_MIN, spread_min / (1 - most)), pairs);
}

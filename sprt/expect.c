// The probability that a test passes and its mean number of games, with a Brownian motion as model
// of the LLR. Real tests that are short take a little longer, because results arrive in batches.
#include "sprt/distribution.h"
#include "sprt/sprt.h"

#include <math.h>

// Probability that the LLR leaves at the upper bound. h is the drift in units that make exp(-h llr)
// a martingale. Both formulas keep the exponents negative.
static double pass_probability(double h, double lower, double upper) {
    double width = upper - lower;
    if (h == 0)
        return -lower / width;
    if (h > 0)
        return expm1(h * lower) / expm1(-h * width);
    return exp(h * upper) * expm1(-h * lower) / expm1(h * width);
}

SprtExpectation sprt_expect(const SprtBounds *bounds, double draw_ratio, double bias, double elo) {
    double offset = elo_to_score(bias) - 0.5;
    double var = (1 - draw_ratio) / 4 - offset * offset; // of a game, given its opening's bias
    if (!(var > 0))
        return (SprtExpectation){NAN, NAN};
    bool logistic = bounds->model == SPRT_LOGISTIC;
    double per_nelo = sqrt(var) / NELO_PER_T;
    double s0 = logistic ? elo_to_score(bounds->elo0) : 0.5 + bounds->elo0 * per_nelo;
    double s1 = logistic ? elo_to_score(bounds->elo1) : 0.5 + bounds->elo1 * per_nelo;
    double s = elo_to_score(elo), lower = sprt_lower(bounds), upper = sprt_upper(bounds);
    double h = (2 * s - s0 - s1) / (s1 - s0), rate = (s1 - s0) * (s1 - s0) / var;
    double pass = pass_probability(h, lower, upper);
    double games =
        fabs(h) < 1e-8 ? -lower * upper / rate : 2 / h * (upper * pass + lower * (1 - pass)) / rate;
    return (SprtExpectation){pass, games};
}

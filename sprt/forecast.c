// How much longer a running test takes, and whether it will pass.
#include "sprt/brownian.h"
#include "sprt/sprt.h"

#include <math.h>

enum { ENOUGH_PAIRS = 32, DRIFTS = 5 };
static const SprtForecast NO_FORECAST = {NAN, NAN};

// Variance of the score of a pair, from the plain counts.
static double variance_of(const double counts[5], double pairs) {
    double mean = 0, variance = 0;
    for (int i = 0; i < 5; i++)
        mean += counts[i] * i / 4 / pairs;
    for (int i = 0; i < 5; i++)
        variance += counts[i] * (i / 4.0 - mean) * (i / 4.0 - mean) / pairs;
    return variance;
}

// Variance of the LLR for each pair. It follows from the distance of the hypotheses:
// (s1 - s0)²/variance.
static double llr_variance(const SprtBounds *bounds, double variance) {
    double distance = bounds->model == SPRT_LOGISTIC
                          ? elo_to_score(bounds->elo1) - elo_to_score(bounds->elo0)
                          : (bounds->elo1 - bounds->elo0) / (800 / log(10)) * sqrt(2 * variance);
    return distance * distance / variance;
}

// The drift of the LLR is estimated as llr/pairs. The estimate has the variance v/pairs, where v is
// the variance of the LLR for each pair.
static SprtForecast extrapolate(const SprtState *state, const SprtBounds *bounds,
                                const double counts[5], double pairs) {
    static const double quantiles[DRIFTS] = {-1.2816, -0.5244, 0, 0.5244, 1.2816};
    double a = sprt_lower_now(state, bounds), b = sprt_upper_now(state, bounds);
    double variance = variance_of(counts, pairs);
    if (!(variance > 0 && state->llr > a && state->llr < b))
        return NO_FORECAST;
    double v = llr_variance(bounds, variance);
    SprtForecast forecast = {0, 0};
    for (int i = 0; i < DRIFTS; i++) {
        double drift = state->llr / pairs + quantiles[i] * sqrt(v / pairs);
        BrownianExit exit = brownian_exit(a, b, state->llr, drift, v);
        forecast.pairs += exit.time / DRIFTS;
        forecast.pass += exit.upper / DRIFTS;
    }
    return isfinite(forecast.pairs) ? forecast : NO_FORECAST;
}

SprtForecast sprt_forecast(const SprtState *state, const SprtBounds *bounds,
                           const double counts[5]) {
    double pairs = 0;
    for (int i = 0; i < 5; i++)
        pairs += counts[i];
    if (pairs >= ENOUGH_PAIRS)
        return extrapolate(state, bounds, counts, pairs);
    SprtExpectation e = sprt_expect(bounds, 0.5, 0, 0);
    return (SprtForecast){.pairs = e.games / 2, .pass = e.pass};
}

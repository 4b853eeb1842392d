// Estimates from counts after a fixed number of games.
#include "sprt/distribution.h"
#include "sprt/normal.h"
#include "sprt/sprt.h"

#include <math.h>

#define Z95 1.959963984540054 // half the width of a 95 % interval in standard deviations

double elo_to_score(double elo) {
    return 1 / (1 + pow(10, -elo / 400));
}

double score_to_elo(double score) {
    return -400 * log10(1 / fmax(0.001, fmin(score, 0.999)) - 1) + 0.0; // no negative zero
}

static double pair_ratio(const double *counts, int n) {
    return n == 5 ? (counts[3] + counts[4]) / (counts[0] + counts[1]) : NAN;
}

EloEstimate elo_estimate(const double *counts, int n) {
    Distribution dist;
    distribution_init(&dist, counts, n);
    Moments m = distribution_moments(&dist);
    double mean = dist.points / dist.total, deviation = sqrt(m.var / dist.total);
    double t = (m.mean - 0.5) / sqrt(m.var);
    double var_t = fmax(0, 1 - t * m.skew + t * t / 4 * (m.exkurt + 2));
    double scale = 1 / distribution_t_per_nelo(n);
    double reach = Z95 * deviation;
    double low = score_to_elo(mean - reach), high = score_to_elo(mean + reach);
    return (EloEstimate){
        .elo = score_to_elo(mean),
        .error = (high - low) / 2,
        .low = low,
        .high = high,
        .los = normal_cdf((mean - 0.5) / deviation),
        .nelo = scale * t,
        .nelo_error = scale * Z95 * sqrt(var_t / dist.total),
        .pair_ratio = pair_ratio(counts, n),
        .draw_ratio = dist.p[n / 2],
    };
}

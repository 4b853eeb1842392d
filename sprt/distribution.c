// Computes the empirical distribution from counts, and its moments.
#include "sprt/distribution.h"

#include <math.h>

void distribution_init(Distribution *dist, const double *counts, int n) {
    dist->n = n;
    dist->total = dist->points = 0;
    for (int i = 0; i < n; i++) {
        dist->p[i] = counts[i] == 0 ? 0.001 : counts[i];
        dist->total += dist->p[i];
        dist->score[i] = (double)i / (n - 1);
        dist->points += dist->p[i] * dist->score[i];
    }
    for (int i = 0; i < n; i++)
        dist->p[i] /= dist->total;
}

Moments distribution_moments(const Distribution *dist) {
    double mean = 0, m2 = 0, m3 = 0, m4 = 0;
    for (int i = 0; i < dist->n; i++)
        mean += dist->p[i] * dist->score[i];
    for (int i = 0; i < dist->n; i++) {
        double d = dist->score[i] - mean, d2 = d * d;
        m2 += dist->p[i] * d2;
        m3 += dist->p[i] * d2 * d;
        m4 += dist->p[i] * d2 * d2;
    }
    return (Moments){mean, m2, m3 / (m2 * sqrt(m2)), m4 / (m2 * m2) - 3};
}

double distribution_sigma_per_game(const Distribution *dist, double var) {
    return sqrt(dist->n == 5 ? 2 * var : var);
}

double distribution_t_per_nelo(int n) {
    return (n == 5 ? M_SQRT2 : 1) / NELO_PER_T;
}

// From counts to the empirical law and its moments. What is done with them is elsewhere.
#include "sprt/law.h"

#include <math.h>

void law_init(Law *law, const double *counts, int n) {
    law->n = n;
    law->total = law->points = 0;
    for (int i = 0; i < n; i++) {
        law->p[i] = counts[i] == 0 ? 0.001 : counts[i];
        law->total += law->p[i];
        law->score[i] = (double)i / (n - 1);
        law->points += law->p[i] * law->score[i];
    }
    for (int i = 0; i < n; i++)
        law->p[i] /= law->total;
}

Moments law_moments(const Law *law) {
    double mean = 0, m2 = 0, m3 = 0, m4 = 0;
    for (int i = 0; i < law->n; i++)
        mean += law->p[i] * law->score[i];
    for (int i = 0; i < law->n; i++) {
        double d = law->score[i] - mean, d2 = d * d;
        m2 += law->p[i] * d2;
        m3 += law->p[i] * d2 * d;
        m4 += law->p[i] * d2 * d2;
    }
    return (Moments){mean, m2, m3 / (m2 * sqrt(m2)), m4 / (m2 * m2) - 3};
}

double law_sigma_per_game(const Law *law, double var) {
    return sqrt(law->n == 5 ? 2 * var : var);
}

double law_t_per_nelo(int n) {
    return (n == 5 ? M_SQRT2 : 1) / NELO_PER_T;
}

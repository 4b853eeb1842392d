// Laws with a given difference. See law.h; llr_step() is in llr.c.
#include "sprt/law.h"

#include "sprt/distribution.h"

#include <math.h>

enum { THETA_STEPS = 60 };
static const double THETA_MAX = 20;

double law_difference(const double law[5], SprtModel unit) {
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

void law_tilt(const double base[5], SprtModel unit, double elo, double law[5]) {
    double low = -THETA_MAX, high = THETA_MAX;
    for (int step = 0; step < THETA_STEPS; step++) {
        double theta = (low + high) / 2;
        tilt(base, theta, law);
        *(law_difference(law, unit) < elo ? &low : &high) = theta;
    }
}

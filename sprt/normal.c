// The normal distribution by erfc. Its inverse uses Newton's method on the logarithm of the tail,
// which is smooth, concave and almost quadratic, so one function serves both tails.
#include "sprt/normal.h"

#include <math.h>

enum { NEWTON_MAX = 50 };

double normal_cdf(double z) {
    return erfc(-z * M_SQRT1_2) / 2;
}

// Upper tail divided by density, Q(z)/phi(z) (Mills' ratio). From 30 on, the asymptotic series is
// used, because the tail itself would underflow.
static double mills_ratio(double z) {
    if (z < 30)
        return erfc(z * M_SQRT1_2) / 2 / (exp(-z * z / 2) * M_2_SQRTPI * M_SQRT1_2 / 2);
    double w = 1 / (z * z);
    return (1 - w * (1 - w * (3 - w * (15 - w * 105)))) / z;
}

static double log_upper_tail(double z) {
    return z < 30 ? log(erfc(z * M_SQRT1_2) / 2)
                  : log(mills_ratio(z)) - z * z / 2 - log(2 * M_PI) / 2;
}

double normal_upper_quantile_log(double h) {
    double z = sqrt(2 * h - 2 * M_LN2);
    for (int i = 0; i < NEWTON_MAX; i++) {
        double step = (log_upper_tail(z) + h) * mills_ratio(z);
        z += step;
        if (fabs(step) <= 1e-15 * (1 + z))
            break;
    }
    return z;
}

double normal_quantile(double p) {
    if (p <= 0 || p >= 1)
        return p <= 0 ? -INFINITY : INFINITY;
    return p < 0.5 ? -normal_upper_quantile_log(-log(p)) : normal_upper_quantile_log(-log1p(-p));
}

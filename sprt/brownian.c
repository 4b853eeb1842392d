// A Brownian motion between two exits: when and where it leaves, and its distribution at a given
// time. There are two methods for the distribution:
// the eigenfunction series, and Siegmund's approximation, which treats each exit alone. The second
// method is used for short times and strong drift, where the series converges slowly.
#include "sprt/brownian.h"

#include "sprt/normal.h"

#include <math.h>
#include <stdbool.h>

static const double SERIES_END = 1e-9;
enum { SERIES_TERMS_MAX = 10000 };
static const double EXPONENT_MAX = 700; // exp() overflows beyond 709

// Probability that the motion finally leaves by the lower exit. x: distance to that exit; A:
// distance between the exits; g = mu/sigma^2.
static double lower_exit(double g, double A, double x) {
    if (fabs(g * A) < 1e-8)
        return (A - x) / A;
    if (g * A > 30)
        return exp(-2 * g * x);
    return expm1(2 * g * (A - x)) / expm1(2 * g * A);
}

static double cdf_series(const Brownian *m, double t, double y) {
    double A = m->b - m->a, x = -m->a, var = m->sigma * m->sigma, g = m->mu / var;
    double height = y - m->a;
    double drift_rate = m->mu * m->mu / (2 * var);
    double first = M_PI / A * M_PI / A * var / 2;
    double factor = exp(-(first + drift_rate) * t - x * g + height * g);
    double sum = 0;
    for (int n = 1; n <= SERIES_TERMS_MAX; n++) {
        double decay = exp(-first * (n * (double)n - 1) * t);
        double angle = M_PI * n / A;
        double u = (2 * A * g * sin(angle * height) - 2 * M_PI * n * cos(angle * height)) /
                   (A * A * g * g + M_PI * M_PI * n * n);
        sum += decay * u * sin(angle * x);
        if (fabs(factor * decay * u) <= SERIES_END)
            break;
    }
    return lower_exit(g, A, x) + factor * sum;
}

// exp(2 h) Phi(z). For large h the asymptotic series of the tail is used, because one factor would
// overflow and the other underflow.
static double reflected(double h, double z) {
    if (h < 5)
        return exp(2 * h) * normal_cdf(z);
    return -exp(2 * h - z * z / 2) / sqrt(2 * M_PI) * (1 / z - 1 / (z * z * z));
}

static double cdf_siegmund(const Brownian *m, double t, double y) {
    double deviation = m->sigma * sqrt(t), g = m->mu / (m->sigma * m->sigma);
    double z = (y - m->mu * t) / deviation;
    double below = (2 * m->a - y + m->mu * t) / deviation;
    double above = (y - m->mu * t - 2 * m->b) / deviation;
    return normal_cdf(z) + reflected(g * m->a, below) - reflected(g * m->b, above);
}

double brownian_outcome_cdf(const Brownian *motion, double t, double y) {
    double A = motion->b - motion->a, var = motion->sigma * motion->sigma;
    bool late = var * t / A / A >= 0.01, gentle = fabs(motion->mu / var * A) <= 15;
    return late && gentle ? cdf_series(motion, t, y) : cdf_siegmund(motion, t, y);
}

BrownianExit brownian_exit(double a, double b, double x, double mu, double var) {
    double h = 2 * mu / var, down = x - a, up = b - x;
    if (fabs(h * (b - a)) < 1e-6)
        return (BrownianExit){.time = down * up / var, .upper = down / (b - a)};
    double upper = h * (b - a) > -EXPONENT_MAX ? expm1(-h * down) / expm1(-h * (b - a))
                                               : exp(h * up) - exp(h * (b - a));
    return (BrownianExit){.time = (up * upper - down * (1 - upper)) / mu, .upper = upper};
}

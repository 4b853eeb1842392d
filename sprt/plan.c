// What a test will do before it begins, its greatest length included. See sprt.h.
#include "sprt/brownian.h"
#include "sprt/law.h"

#include <math.h>

enum { CELLS = 200 }; // of Simpson's rule, even

// Probability that the motion is still between its exits at time t.
static double survival(const Brownian *m, double t) {
    double both = brownian_outcome_cdf(m, t, m->b) - brownian_outcome_cdf(m, t, m->a);
    return fmax(0, fmin(both, 1));
}

// The mean time that the motion spends between its exits after time t, where it ends at t. It is
// the integral of the survival. The series for the survival begins with exp(-rate·t); under strong
// drift the motion leaves around its mean time.
static double time_cut_off(const Brownian *m, double t, double mean) {
    double width = m->b - m->a, var = m->sigma * m->sigma;
    double rate = M_PI * M_PI * var / (2 * width * width) + m->mu * m->mu / (2 * var);
    double step = (16 / rate + 2 * mean) / CELLS;
    double sum = survival(m, t) + survival(m, t + CELLS * step);
    for (int i = 1; i < CELLS; i++)
        sum += survival(m, t + i * step) * (i % 2 ? 4 : 2);
    return sum * step / 3;
}

SprtPlan sprt_plan(const SprtBounds *bounds, const double even[5], double elo, double pairs_max) {
    double law[5];
    law_tilt(even, bounds->model, elo, law);
    LlrStep step = llr_step(bounds->model, bounds->elo0, bounds->elo1, law);
    if (!(step.var > 0))
        return (SprtPlan){NAN, NAN, NAN, NAN};
    Brownian motion = {
        .a = sprt_lower(bounds), .b = sprt_upper(bounds), .mu = step.mean, .sigma = sqrt(step.var)};
    double mean = brownian_exit(motion.a, motion.b, 0, step.mean, step.var).time;
    double accepted = 1 - brownian_outcome_cdf(&motion, pairs_max, motion.b);
    double rejected = brownian_outcome_cdf(&motion, pairs_max, motion.a);
    accepted = fmax(0, fmin(accepted, 1));
    rejected = fmax(0, fmin(rejected, 1 - accepted));
    double pairs = mean - time_cut_off(&motion, pairs_max, mean);
    return (SprtPlan){accepted, rejected, 1 - accepted - rejected, fmax(0, fmin(pairs, pairs_max))};
}

// The sequential estimate: Elo, interval and likelihood of superiority of a test that was stopped
// by its own result. The model of the LLR is a Brownian motion that ends at Wald's bounds. Outcomes
// are ordered from the earliest rejection to the earliest acceptance. A limit of the interval is
// the Elo at which an outcome as bad (or as good) as the observed one has the given probability.
#include "sprt/brownian.h"
#include "sprt/distribution.h"
#include "sprt/sprt.h"

#include <math.h>

static const double ELO_LIMIT = 1000;
enum { ROOT_STEPS_MAX = 100 };

typedef struct Outcome {
    Brownian motion; // the drift is set for each Elo
    double s0, s1, var;
    double time, llr;
} Outcome;

static double hypothesis_score(SprtModel model, double elo, double sigma_per_game) {
    return model == SPRT_LOGISTIC ? elo_to_score(elo) : 0.5 + elo / NELO_PER_T * sigma_per_game;
}

static double drift(const Outcome *outcome, double score) {
    double s0 = outcome->s0, s1 = outcome->s1;
    return (score - (s0 + s1) / 2) * (s1 - s0) / outcome->var;
}

static Outcome outcome_of(const SprtBounds *bounds, const double *counts, int n) {
    Distribution dist;
    distribution_init(&dist, counts, n);
    Moments moments = distribution_moments(&dist);
    double sigma = distribution_sigma_per_game(&dist, moments.var);
    Outcome o = {.motion = {.a = sprt_lower(bounds), .b = sprt_upper(bounds)},
                 .s0 = hypothesis_score(bounds->model, bounds->elo0, sigma),
                 .s1 = hypothesis_score(bounds->model, bounds->elo1, sigma),
                 .var = moments.var,
                 .time = dist.total};
    o.motion.sigma = (o.s1 - o.s0) / sqrt(o.var);
    double slope = drift(&o, moments.mean);
    o.llr = o.time * slope;
    double exit = fmax(o.motion.a, fmin(o.llr, o.motion.b));
    if (exit != o.llr) {
        o.time = exit / slope;
        o.llr = exit;
    }
    return o;
}

// Probability of a worse outcome if the truth is `elo` (logistic in both models).
static double worse(const Outcome *outcome, double elo) {
    Brownian motion = outcome->motion;
    motion.mu = drift(outcome, elo_to_score(elo));
    return brownian_outcome_cdf(&motion, outcome->time, outcome->llr);
}

// Root of worse(elo) = target in a bracket where the sign changes, by Ridders' method. Each step at
// least halves the bracket, so it also ends at the small jump between the two methods of
// brownian_outcome_cdf.
static double root_ridders(const Outcome *o, double target, double low, double high) {
    double f_low = worse(o, low) - target, f_high = worse(o, high) - target;
    double root = low;
    for (int step = 0; step < ROOT_STEPS_MAX; step++) {
        double middle = (low + high) / 2, f = worse(o, middle) - target;
        double s = sqrt(f * f - f_low * f_high), before = root;
        if (s == 0)
            return f_low == 0 ? low : f_high == 0 ? high : middle;
        root = middle + (middle - low) * (f_low >= f_high ? 1 : -1) * f / s;
        double f_root = worse(o, root) - target;
        if (f_root == 0 || fabs(root - before) < 1e-11 || high - low < 1e-11)
            return root;
        if (signbit(f) != signbit(f_root)) {
            low = fmin(middle, root), high = fmax(middle, root);
            f_low = root < middle ? f_root : f, f_high = root < middle ? f : f_root;
        } else if (signbit(f_low) != signbit(f_root)) {
            high = root, f_high = f_root;
        } else {
            low = root, f_low = f_root;
        }
    }
    return root;
}

// The Elo at which a worse outcome has probability `target`; ±ELO_LIMIT if it is outside them.
static double elo_at(const Outcome *o, const SprtBounds *bounds, double target) {
    double centre = (bounds->elo0 + bounds->elo1) / 2;
    for (double reach = 30 * (bounds->elo1 - bounds->elo0);; reach *= 2) {
        double low = fmax(centre - reach, -ELO_LIMIT), high = fmin(centre + reach, ELO_LIMIT);
        double f_low = worse(o, low) - target, f_high = worse(o, high) - target;
        if (f_low * f_high <= 0)
            return root_ridders(o, target, low, high);
        if (low == -ELO_LIMIT && high == ELO_LIMIT)
            return f_low > 0 ? high : low;
    }
}

SprtEstimate sprt_estimate(const SprtBounds *bounds, double p, const double *counts, int n) {
    Outcome o = outcome_of(bounds, counts, n);
    return (SprtEstimate){.elo = elo_at(&o, bounds, 0.5),
                          .low = elo_at(&o, bounds, 1 - p / 2),
                          .high = elo_at(&o, bounds, p / 2),
                          .los = worse(&o, 0)};
}

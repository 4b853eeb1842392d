// Brownian motion between two exits. Internal to libsprt.
#pragma once

typedef struct Brownian {
    double a, b;      // exits, a < 0 < b
    double mu, sigma; // drift and deviation per unit of time
} Brownian;

// Probability of an outcome no better than "alive at time `t` with value `y`": exit at `a` before
// t, or alive at t and not above y. Good to about 1e-3 near the seam of its two methods, as
// Fishtest's is (the same seam, so that both give the same figures); may leave [0, 1] by as much.
double brownian_outcome_cdf(const Brownian *motion, double t, double y);

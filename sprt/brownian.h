// Brownian motion between two exits. Internal to libsprt.
#pragma once

typedef struct Brownian {
    double a, b;      // exits, a < 0 < b
    double mu, sigma; // drift and deviation per unit of time
} Brownian;

// Probability that the motion left at `a` before time `t`, or is still between the exits at time
// `t` with a value of at most `y`. Two methods compute it. Where one replaces the other, the error
// is about 1e-3, and the result may be outside [0, 1] by as much. Fishtest changes between the same
// methods at the same place, so that both programs give the same numbers.
double brownian_outcome_cdf(const Brownian *motion, double t, double y);

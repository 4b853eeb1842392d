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

// The exit of a motion that is at `x` between the exits `a` and `b`, with drift `mu` and variance
// `var` per unit of time (Wald, Sequential Analysis, 1947).
typedef struct BrownianExit {
    double time;  // mean time until the motion leaves
    double upper; // probability that it leaves at `b`
} BrownianExit;
BrownianExit brownian_exit(double a, double b, double x, double mu, double var);

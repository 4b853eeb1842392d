// libsprt: the statistics of engine testing. Pure mathematics: no I/O, no allocation, no globals.
//
// Counts are ordered from the worst to the best result of the new engine. Five counts are pairs
// (pentanomial: LL, LD+DL, DD+WL, DW+WD, WW), three are games (trinomial: L, D, W). Zero counts are
// regularised to 0.001, as in Fishtest. Elo is logistic unless a name says normalized (nElo).
// Sources: Michel Van den Bergh's notes (support_MLE_multinomial, normalized_elo_practical,
// GSPRT_approximation), Siegmund, Sequential Analysis (1985), Cor. 8.33.
#pragma once

#include <stdbool.h>

typedef enum { SPRT_LOGISTIC, SPRT_NORMALIZED } SprtModel;

typedef struct SprtBounds {
    SprtModel model;
    double elo0, elo1;  // in the model's unit; elo0 < elo1
    double alpha, beta; // in (0, 1), alpha + beta < 1
} SprtBounds;

// Why `bounds` are not valid, as a sentence for people; NULL if they are valid.
const char *sprt_bounds_check(const SprtBounds *bounds);
double sprt_lower(const SprtBounds *bounds); // ln(beta/(1-alpha)), negative
double sprt_upper(const SprtBounds *bounds); // ln((1-beta)/alpha)

// Log-likelihood ratio of elo1 against elo0 (GSPRT: each hypothesis is replaced by its constrained
// maximum-likelihood estimate). `n` is 3 or 5. NAN if a hypothesis has no estimate: logistic bounds
// so large that the score rounds to 0 or 1, normalized bounds beyond 231 (pairs) or 340 (games),
// the limits of Fishtest's estimator. Otherwise exact to rounding, even where Fishtest's iteration
// stops early or raises an exception.
double sprt_llr(SprtModel model, double elo0, double elo1, const double *counts, int n);

typedef enum { SPRT_OPEN, SPRT_ACCEPTED, SPRT_REJECTED } SprtVerdict;

// A running test with dynamic correction for overshoot. Call sprt_update once per batch, in the
// order of arrival, with the totals so far. A new test is zero-initialised.
typedef struct SprtState {
    double pairs; // at the last update
    double llr;
    // Ladder heights (stop.c), 0: below, 1: above. The last extremum of the LLR; the sum of the
    // heights; the sum of their squares.
    double ref0, m0, sq0, ref1, m1, sq1;
    double skipped;   // pairs that came without an update of their own
    bool uncorrected; // the ladder heights are lost: the bounds are not corrected any more
    SprtVerdict verdict;
} SprtState;

// `batch_pairs` is the number of pairs in a batch of the test. The correction ends if the totals
// are not a multiple of it, or have become smaller.
void sprt_update(SprtState *state, const SprtBounds *bounds, int batch_pairs,
                 const double counts[5]);
// The corrected bounds. The test ends when the LLR is beyond one of them.
double sprt_lower_now(const SprtState *state, const SprtBounds *bounds);
double sprt_upper_now(const SprtState *state, const SprtBounds *bounds);

// Median-unbiased sequential estimate, with an interval of confidence 1 - p (Brownian motion with
// two exits). Elo is logistic in both models. Values are limited to ±1000.
typedef struct SprtEstimate {
    double elo, low, high, los;
} SprtEstimate;
SprtEstimate sprt_estimate(const SprtBounds *bounds, double p, const double *counts, int n);

// Estimate from counts after a fixed number of games. Errors are half the width of the 95 %
// interval.
typedef struct EloEstimate {
    double elo, error, los;
    double low, high; // limits of the interval of `elo`, which is not exactly in their middle
    double nelo, nelo_error;
    double pair_ratio; // (n3+n4)/(n0+n1); NAN for 0/0 and for trinomial counts
    double draw_ratio; // the middle count divided by all
} EloEstimate;
EloEstimate elo_estimate(const double *counts, int n);

double elo_to_score(double elo);   // 1/(1+10^(-elo/400))
double score_to_elo(double score); // of the score clamped to [0.001, 0.999]

// Operating characteristics in the Brownian approximation (Fishtest's SPRT calculator).
// `draw_ratio` and `bias` (RMS bias, logistic Elo) describe the book; `elo` is the true difference,
// logistic. Both results are NAN if the draws and the bias leave a game no variance.
typedef struct SprtExpectation {
    double pass, games; // probability to accept elo1; mean number of games (not pairs)
} SprtExpectation;
SprtExpectation sprt_expect(const SprtBounds *bounds, double draw_ratio, double bias, double elo);

// What a test will do, before it begins: the probabilities of its ends, and its mean number of
// pairs. The LLR is taken for a Brownian motion between the bounds, as above, but with the mean and
// the variance that a pair really adds to the LLR, and the motion ends at `pairs_max`. `even` is
// the distribution of the pairs of two equal engines; it is tilted until the true difference is
// `elo`, in the model's unit. Against simulated tests of 50 batches or more, and in most books of
// 12 or more, the mean is right to about 2 %, the probabilities to 0.01 (tests/unit/sprt). Shorter
// tests with few decided pairs take longer. All numbers are NAN if there is no LLR (sprt_llr).
typedef struct SprtPlan {
    double accepted, rejected, undecided; // at pairs_max; their sum is 1
    double pairs;
} SprtPlan;
SprtPlan sprt_plan(const SprtBounds *bounds, const double even[5], double elo, double pairs_max);

// How much longer a running test will take. `state` and `counts` are those of its last update. The
// drift of the LLR is estimated from the results, and the answer is the mean over five equally
// likely drifts (Wald's formulas for a Brownian motion). Before 32 pairs it is sprt_expect() for
// engines of equal strength that draw half of their games. NAN if the LLR is not between the
// bounds, or if all results are equal.
typedef struct SprtForecast {
    double pairs, pass; // further pairs; probability to accept elo1
} SprtForecast;
SprtForecast sprt_forecast(const SprtState *state, const SprtBounds *bounds,
                           const double counts[5]);

// Compares the pair outcomes of workers (chi-squared test). rows[i] = {wins, losses, draws}.
// residuals[i] is NAN if row i is too small for the test (an expected count of 5 or less). z95 and
// z99 are thresholds for the largest residual. If fewer than two rows are large enough, all results
// are NAN and dof is 0.
typedef struct Chi2 {
    double chi2, p, z95, z99;
    int dof;
} Chi2;
enum { CHI2_ROWS_MAX = 4096 };
Chi2 chi2_workers(const double (*rows)[3], int row_count, double *residuals);

// One parameter of SPSA in its classic form (Spall, with the schedule of Fishtest).
typedef struct SpsaParam {
    double theta, min, max;
    double c_end, r_end; // set by the caller
    double c, a;         // computed by spsa_init
} SpsaParam;
typedef struct SpsaSchedule {
    double A, alpha, gamma;
    double iterations; // pairs in all
} SpsaSchedule;
void spsa_init(SpsaParam *param, const SpsaSchedule *schedule);
// c_k and R_k of an iteration, counted from 0: the one at which the batch was requested.
void spsa_step_sizes(const SpsaParam *param, const SpsaSchedule *schedule, double iteration,
                     double *c_k, double *r_k);
// theta after a batch. `score` is wins - losses of the side that played theta + c_k·flip.
double spsa_update(const SpsaParam *param, double c_k, double r_k, double score, int flip);

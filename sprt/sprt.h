// libsprt: the statistics of engine testing. Pure mathematics: no I/O, no allocation, no globals.
//
// Counts run from low to high for the new engine. Five of them are pairs (pentanomial: LL, LD+DL,
// DD+WL, DW+WD, WW), three are games (trinomial: L, D, W). Zero counts are regularised to 0.001 as
// Fishtest does. Elo is logistic unless a name says normalized (nElo).
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

// Why `bounds` make no test, as a sentence for people; NULL if they do.
const char *sprt_bounds_check(const SprtBounds *bounds);
double sprt_lower(const SprtBounds *bounds); // ln(beta/(1-alpha)), negative
double sprt_upper(const SprtBounds *bounds); // ln((1-beta)/alpha)

// Log-likelihood ratio of elo1 against elo0 (GSPRT: each hypothesis by its constrained MLE).
// `n` is 3 or 5. NAN where a hypothesis has no estimate: logistic bounds so far out that the score
// rounds to 0 or 1, normalized bounds beyond 231 (pairs) or 340 (games), where Fishtest's
// estimator ends. Elsewhere exact to rounding, also where Fishtest's code stops early or raises.
double sprt_llr(SprtModel model, double elo0, double elo1, const double *counts, int n);

typedef enum { SPRT_OPEN, SPRT_ACCEPTED, SPRT_REJECTED } SprtVerdict;

// The running test with dynamic overshoot correction: call sprt_update once a batch, in order of
// arrival, with the totals so far. Zero-initialised is a fresh test.
typedef struct SprtState {
    double pairs; // at the last update
    double llr;
    double ref0, m0, sq0, ref1, m1, sq1; // ladder heights below and above
    double skipped;                      // pairs that came without an update of their own
    bool uncorrected;                    // overshoot data lost: plain bounds from here on
    SprtVerdict verdict;
} SprtState;

// `batch_pairs` is the test's batch; totals that are no multiple of it, or shrank, drop the
// correction.
void sprt_update(SprtState *state, const SprtBounds *bounds, int batch_pairs,
                 const double counts[5]);
// The bounds as corrected by the state: verdict falls beyond them.
double sprt_lower_now(const SprtState *state, const SprtBounds *bounds);
double sprt_upper_now(const SprtState *state, const SprtBounds *bounds);

// Median-unbiased sequential estimate with 1 - p interval (Brownian motion with exits). Logistic
// Elo in both models; ends beyond ±1000 are given as ±1000.
typedef struct SprtEstimate {
    double elo, low, high, los;
} SprtEstimate;
SprtEstimate sprt_estimate(const SprtBounds *bounds, double p, const double *counts, int n);

// Plain estimate from counts, as after a fixed number of games; errors are half 95 % intervals.
typedef struct EloEstimate {
    double elo, error, los;
    double nelo, nelo_error;
    double pair_ratio; // (n3+n4)/(n0+n1); NAN for 0/0 and for trinomial counts
    double draw_ratio; // n2/N of pairs, or of games
} EloEstimate;
EloEstimate elo_estimate(const double *counts, int n);

double elo_to_score(double elo);   // 1/(1+10^(-elo/400))
double score_to_elo(double score); // score clamped to [0.001, 0.999]

// Operating characteristics under Brownian theory (Fishtest's SPRT calculator). `draw_ratio` and
// `bias` (RMS bias, logistic Elo) describe the book; `elo` is logistic. Games, not pairs. NANs
// where draws and bias leave a game no variance.
typedef struct SprtExpectation {
    double pass, games;
} SprtExpectation;
SprtExpectation sprt_expect(const SprtBounds *bounds, double draw_ratio, double bias, double elo);

// Pair outcomes of workers against each other. rows[i] = {wins, losses, draws}. residuals[i] is NAN
// where a row has too few games to say anything (an expected count of 5 or less). z95, z99:
// thresholds for the largest residual. With fewer than two rows left: all NAN, dof 0.
typedef struct Chi2 {
    double chi2, p, z95, z99;
    int dof;
} Chi2;
enum { CHI2_ROWS_MAX = 4096 };
Chi2 chi2_workers(const double (*rows)[3], int row_count, double *residuals);

// SPSA, classic form (Spall; Fishtest's schedule). One parameter.
typedef struct SpsaParam {
    double theta, min, max;
    double c_end, r_end; // as given
    double c, a;         // derived by spsa_init
} SpsaParam;
typedef struct SpsaSchedule {
    double A, alpha, gamma;
    double iterations; // pairs in all
} SpsaSchedule;
void spsa_init(SpsaParam *param, const SpsaSchedule *schedule);
// c_k and R_k of the iteration at which a batch was requested (from 0).
void spsa_step_sizes(const SpsaParam *param, const SpsaSchedule *schedule, double iteration,
                     double *c_k, double *r_k);
// theta after a batch: `score` = wins - losses of the side that played theta + c_k·flip.
double spsa_update(const SpsaParam *param, double c_k, double r_k, double score, int flip);

// The empirical distribution of results: counts turned into probabilities on scores from 0 to 1.
// Internal to libsprt.
#pragma once

enum { OUTCOMES_MAX = 5 };

typedef struct Distribution {
    int n;                      // 3 or 5 outcomes
    double total;               // sum of the regularised counts
    double points;              // sum of the scores, each weighted by its regularised count
    double score[OUTCOMES_MAX]; // i/(n-1)
    double p[OUTCOMES_MAX];     // all positive, sum 1
} Distribution;

typedef struct Moments {
    double mean, var, skew, exkurt; // of one outcome's score; exkurt is kurtosis - 3
} Moments;

// A count of exactly 0 becomes 0.001, and `total` includes that.
void distribution_init(Distribution *dist, const double *counts, int n);
Moments distribution_moments(const Distribution *dist);
// Standard deviation of the score of one game. With pairs, the variance of a game is twice that of
// a pair.
double distribution_sigma_per_game(const Distribution *dist, double var);
// One normalized Elo as a t-value per outcome (pair or game).
double distribution_t_per_nelo(int n);

#define NELO_PER_T 347.43558552260146 // 800/ln 10: nElo of a per-game t-value of 1

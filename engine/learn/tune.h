// The tuner of the classical evaluation: it learns the values of eval/values.h from games and their
// results. The evaluation's trace (eval/trace.h) gives the score of a position as a function of
// these values, and nearly all of this function is linear. The tuner finds the values that predict
// the results of quiet positions best (Texel's tuning method, P. Österlund 2014). It follows the
// gradient of the error (A. Grant, "Evaluation & Tuning in Chess Engines", 2020).
#pragma once

#include <stdio.h>

#include "eval/trace.h"

// ---- positions to learn from -------------------------------------------------------------------

// How often one value counts in a position.
typedef struct TuneItem {
    uint16_t index; // index of the value among all values
    int16_t count;  // White's minus Black's; for dangers: of one colour, in quarters of a unit
} TuneItem;

typedef struct TunePosition {
    size_t first; // the index of its first item; then linear items, dangers of both kings, winnable
    uint16_t linear, dangers[COLOR_NB], winnable; // numbers of these items
    uint8_t phase, scale[COLOR_NB], rule50, side; // as in EvalTrace
    float result;                                 // of the game, White's view: 0, 0.5, 1
} TunePosition;

// Owns its arrays. A zeroed set is empty.
typedef struct TuneSet {
    TunePosition *positions;
    TuneItem *items;
    size_t count, capacity, item_count, item_capacity;
} TuneSet;

void tune_set_add(TuneSet *set, const EvalTrace *trace, double result);
void tune_set_release(TuneSet *set);

// Every tenth game goes to the second set, so that no game is in both.
typedef struct TuneData {
    TuneSet training, validation;
    uint64_t games, seen; // games read, and all positions in them
} TuneData;

// Adds the quiet positions of the games at `path` (a file, or a folder of games-*.anvil) until
// there are `positions_max`. A damaged file is read up to the damage, with a warning on standard
// error. On false, `err` has the reason: there is nothing to read.
bool tune_data_load(TuneData *data, const char *path, size_t positions_max, Refusal *err)
    __attribute__((warn_unused_result));
void tune_data_release(TuneData *data);

// ---- learning ----------------------------------------------------------------------------------

// The values while they are learned. Of kinds other than VALUE_LINEAR only `mg` is used.
typedef struct TuneWeights {
    double mg[EVAL_COUNT], eg[EVAL_COUNT];
} TuneWeights;

void tune_weights_init(TuneWeights *weights, const EvalValues *values);
// Rounds the values to whole numbers.
void tune_weights_round(const TuneWeights *weights, EvalValues *out);

// The score in centipawns, White's view, without rounding.
double tune_score(const TuneSet *set, const TunePosition *pos, const TuneWeights *weights);
// Mean squared error of the predicted results 1 / (1 + 10^(-k * score / 400)).
double tune_loss(const TuneSet *set, const TuneWeights *weights, double k, int threads);
// The same error for a constant prediction: the mean result of the set.
double tune_loss_of_constant(const TuneSet *set);
// The k with the smallest loss.
double tune_fit_k(const TuneSet *set, const TuneWeights *weights, int threads);

typedef struct TunePlan {
    int epochs, threads;
    double k;
    double anchor;  // keeps values near the old ones, as if so many positions supported them
    FILE *progress; // one line per epoch; NULL: none
} TunePlan;

// Improves `weights`. The result is the weights of the epoch with the smallest validation loss, or
// the initial weights if no epoch is better. Without a validation set, the training loss is used.
// The result is the same for any number of threads.
void tune_learn(const TuneData *data, const TunePlan *plan, TuneWeights *weights);

// ---- the values as a file ----------------------------------------------------------------------

// Prints these values as the text of eval/values.c.
void values_print(FILE *out, const EvalValues *values);
// Writes the same to a file. The file is replaced atomically.
bool values_write(const char *path, const EvalValues *values, Refusal *err)
    __attribute__((warn_unused_result));

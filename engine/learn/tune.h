// The tuner of the classical evaluation: it learns the values of eval/values.h from games and their
// results. The evaluation's trace (eval/trace.h) gives the score of a position as a function of
// these values, nearly all of it linear. The tuner looks for the values that predict the results of
// quiet positions best (Texel's tuning method, P. Österlund 2014). It follows the gradient of the
// error (A. Grant, "Evaluation & Tuning in Chess Engines", 2020).
#pragma once

#include <stdio.h>

#include "eval/trace.h"

// ---- positions to learn from -------------------------------------------------------------------

// One value's part in a position.
typedef struct TuneItem {
    uint16_t index; // of the value among all
    int16_t count;  // White's less Black's; of dangers, in quarters of a unit, one colour's own
} TuneItem;

typedef struct TunePosition {
    size_t first; // its items: linear ones, dangers of White's king and Black's, winnable
    uint16_t linear, dangers[COLOR_NB], winnable; // how many of each
    uint8_t phase, scale[COLOR_NB], rule50, side; // as in EvalTrace
    float result;                                 // of its game, White's view: 0, 0.5, 1
} TunePosition;

// Owns its arrays; all zero is an empty one.
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
    uint64_t games, seen; // games read; positions in them, quiet or not
} TuneData;

// Adds the quiet positions of the games at `path`, a file or a folder of games-*.anvil, until
// `positions_max` are there. A damaged file is read as far as it goes, with a warning on standard
// error. False, with `err`: there is nothing to read.
bool tune_data_load(TuneData *data, const char *path, size_t positions_max, Refusal *err)
    __attribute__((warn_unused_result));
void tune_data_release(TuneData *data);

// ---- learning ----------------------------------------------------------------------------------

// The values while they are learned. Of kinds other than VALUE_LINEAR only `mg` is used.
typedef struct TuneWeights {
    double mg[EVAL_COUNT], eg[EVAL_COUNT];
} TuneWeights;

void tune_weights_init(TuneWeights *weights, const EvalValues *values);
// The nearest whole numbers.
void tune_weights_round(const TuneWeights *weights, EvalValues *out);

// The score in centipawns, White's view, not rounded on the way.
double tune_score(const TuneSet *set, const TunePosition *pos, const TuneWeights *weights);
// Mean squared error of the predicted results 1 / (1 + 10^(-k * score / 400)).
double tune_loss(const TuneSet *set, const TuneWeights *weights, double k, int threads);
// The same for a constant prediction: the mean result of the set.
double tune_loss_of_constant(const TuneSet *set);
// The k with the least loss.
double tune_fit_k(const TuneSet *set, const TuneWeights *weights, int threads);

typedef struct TunePlan {
    int epochs, threads;
    double k;
    double anchor;  // each value keeps to its start as if so many positions spoke for that
    FILE *progress; // a line an epoch; NULL: none
} TunePlan;

// Improves `weights`; those of the epoch with the least validation loss remain, the first ones if
// none is better (training loss where there is no validation set). The outcome is the same for any
// number of threads.
void tune_learn(const TuneData *data, const TunePlan *plan, TuneWeights *weights);

// ---- the values as a file ----------------------------------------------------------------------

// eval/values.c with these values.
void values_print(FILE *out, const EvalValues *values);
// The same to a file, which is replaced at once or not at all.
bool values_write(const char *path, const EvalValues *values, Refusal *err)
    __attribute__((warn_unused_result));

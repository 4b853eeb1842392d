// The trainer's positions: the game files of some folders, replayed, filtered and packed. A
// position is kept when its score describes the position itself; the others are counted by the
// reason why they were left out. A whole game belongs either to training or to validation, by a
// hash of its run's seed and its number in the run, so that the choice does not depend on the file
// that holds the game. Validation uses the scores without a trace, so that the losses of runs with
// different traces can be compared.
#pragma once

#include "learn/correlation.h"
#include "learn/train_position.h"
#include "rules/error.h"

enum {
    TRAIN_PLIES_LEAST = 16,   // plies before the position: earlier ones are random openings
    TRAIN_SCORE_ABSURD = 600, // if a side with this score lost, the score was wrong
    TRAIN_PROBES = 1000,
    TRAIN_FOLDERS_MAX = 256,
};

// Why a position was left out. If several reasons apply, the first one counts.
typedef enum {
    DROP_NONE,
    DROP_EARLY, // fewer than TRAIN_PLIES_LEAST plies
    DROP_LOUD,  // in check, or the move chosen is a capture or a promotion
    DROP_LARGE, // the score is beyond TRAIN_SCORE_MOST
    DROP_ABSURD,
    DROP_NB
} DropReason;
extern const char *const train_drop_texts[DROP_NB];

// `score` and `result` must be in the same view.
DropReason train_drop_reason(const Position *pos, Move move, int ply, int score, int result);

typedef struct TrainPositions {
    TrainPosition *at;
    size_t count, room;
} TrainPositions;

typedef struct TrainSetOptions {
    const char *const *folders;
    int folder_count;
    int64_t limit;       // positions of games to keep at most; 0: all
    int validation;      // per cent of the games
    double trace, scale; // for the targets of training; see train_trace.h
    uint64_t seed;       // for the choice of probes
    double correlation;  // the lowest allowed between score and result; see train_set_load
} TrainSetOptions;

typedef struct TrainSet {
    TrainPositions training, validation;
    // A random sample of all positions that were kept, for the comparison with the engine.
    int probe_count;
    Position probes[TRAIN_PROBES];
    // Statistics.
    int64_t files, damaged, games, plies;
    int64_t dropped[DROP_NB]; // by reason
    Correlation sums;         // of score and result, both seen by the side to move
} TrainSet;

// Reads every *.anvil file of the folders, in the order of their names. The games before a damage
// are used, and stderr gets a message. Returns false with a reason if a folder cannot be read or
// has no such file, if a file is not a game file, if there is no position for training or for
// validation, or if the correlation of scores and results is too low. A low correlation usually
// means that a sign is wrong. It is computed before DROP_ABSURD, which would hide such an error.
// The caller releases `set` in all cases.
bool train_set_load(TrainSet *set, const TrainSetOptions *options, Refusal *err)
    __attribute__((warn_unused_result));
void train_set_release(TrainSet *set);
// A hash of all bytes of the positions. It shows whether two runs learn from the same positions.
uint64_t train_set_fingerprint(const TrainSet *set);

// The batch that is being played: the outcomes of its pairs in order, their sums, and their games.
#pragma once

#include "worker/match/games_json.h"
#include "worker/results/batch_load.h"
#include "worker/results/spool.h"

typedef struct GameBatch {
    int64_t task;
    int seq, pairs, pairs_max;
    char *outcomes; // one digit per pair, 0 (LL) to 4 (WW) for the new side
    int wins, losses, draws, crashes, time_losses;
    int ponders[2]; // games that engine 0, or 1, lost because it computed in its opponent's time
    int64_t thought_us; // that both sides thought in all games
    Said said[2];       // what engine 0, and 1, said about its moves
    Str games;          // JSON lines
} GameBatch;

void batch_init(GameBatch *batch, int64_t task, int seq, int pairs_max);
void batch_release(GameBatch *batch);
// Engine 0 of the games is the new side. Pairs come in the order of their openings.
void batch_add(GameBatch *batch, const GameRecord games[2], const GameContext *context);
bool batch_is_full(const GameBatch *batch);

typedef struct BatchFacts {
    const char *tc; // the clock used
    double speed, busy;
    const BatchLoad *load; // NULL: not measured
} BatchFacts;
// The batch in the form in which it is sent, with compressed games. New.
SpoolItem *batch_finish(GameBatch *batch, const BatchFacts *facts);

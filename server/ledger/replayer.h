// The thread that replays uploaded games (replay.h), so that the server need not trust any worker.
// It replays a random share of all batches, and the first few of every machine. The loop takes the
// results, and the ledger writes them. The thread itself only writes which batch it has begun, so
// that a batch that crashes the server is not tried again.
#pragma once

#include <stdint.h>

#include "server/common/error.h"
#include "server/db/turn.h"

typedef struct Replayer Replayer;

typedef struct Replayed {
    int64_t batch, games;
    char fault[300];   // "" if there is no mismatch
    char left_out[80]; // why the games were not replayed; "": they were
} Replayed;

Replayer *replayer_start(const char *data, Error *err);
// Takes up to `max` new results. Loop thread.
int replayer_take(Replayer *replayer, Replayed *out, int max);
// Takes the new results and stores them; in the turn.
void ledger_take_replayed(Turn *turn, Replayer *replayer);
void replayer_stop(Replayer *replayer); // also frees

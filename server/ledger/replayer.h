// The thread that plays uploaded games over again (replay.h), so that no worker needs to be
// believed: a random share of all batches, and the first few of every machine. What it
// finds is taken by the loop, which lets the ledger write it; it writes itself only which batch it
// has begun, so that one that brings the server down is not tried again.
#pragma once

#include <stdint.h>

#include "server/common/error.h"
#include "server/db/turn.h"

typedef struct Replayer Replayer;

typedef struct Replayed {
    int64_t batch, games;
    char fault[300];   // "" where all is well
    char left_out[80]; // why the games were not looked at; "": they were
} Replayed;

Replayer *replayer_start(const char *data, Error *err);
// What was found since; up to `max`. Loop thread.
int replayer_take(Replayer *replayer, Replayed *out, int max);
// Writes down what was found since; in the turn.
void ledger_take_replayed(Turn *turn, Replayer *replayer);
void replayer_stop(Replayer *replayer); // and free

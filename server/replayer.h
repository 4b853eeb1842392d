// The thread that plays uploaded games over again (replay.h), so that no worker needs to be
// believed: a random share of all batches, and the first few of every machine. It reads only; what
// it finds is taken by the loop, which lets the ledger write it.
#pragma once

#include "http.h"

typedef struct Replayer Replayer;

typedef struct Replayed {
    int64_t batch, games;
    char fault[300]; // "" where all is well
} Replayed;

Replayer *replayer_start(const char *data, Error *err);
// What was found since; up to `max`. Loop thread.
int replayer_take(Replayer *replayer, Replayed *out, int max);
void replayer_stop(Replayer *replayer); // and free

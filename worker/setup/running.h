// What can be stopped from other threads while a task is worked on: its network calls, builds and
// benches by a flag, its match by the runner's own orders.
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "worker/match/match.h"

typedef struct Running {
    atomic_bool cancel; // ends calls, builds and benches
    pthread_mutex_t lock;
    Match *match; // NULL: none runs
    bool finish, abort;
} Running;

void running_init(Running *running);
// A new task: flags are lowered.
void running_reset(Running *running);
// The match gets orders that came before it.
void running_set_match(Running *running, Match *match);
void running_finish(Running *running); // pairs that run are ended
void running_abort(Running *running);  // everything ends at once
// Plies and pairs begun of the match, 0 while none runs.
void running_progress(Running *running, uint64_t *plies, int *next_pair);

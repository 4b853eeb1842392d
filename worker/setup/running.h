// What other threads can stop during a task: its network calls, builds and benches by a flag, its
// match by match_finish() and match_abort().
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
// Clears the flags, for a new task.
void running_reset(Running *running);
// If the task was stopped before this call, the match is stopped too.
void running_set_match(Running *running, Match *match);
void running_finish(Running *running); // running pairs are finished
void running_abort(Running *running);  // everything stops at once
// Plies and pairs that the match has started; 0 if there is none.
void running_progress(Running *running, uint64_t *plies, int *next_pair);

// The games of a task: a match whose pairs go to the uploader in batches.
#pragma once

#include "worker/setup/worker.h"
#include "worker/task/task.h"

typedef struct PlaySpec {
    const Task *task;
    const Build *builds; // SIDE_COUNT of them
    const BuildContext *context;
    double factor; // of the clock
    double speed;  // nodes/s of a slot, 0 if not measured
    int slots;
    int64_t memory_mib[SIDE_COUNT]; // that an engine may use; passing it is a crash
    Str *log;                       // receives the last output of an engine that cannot be used
} PlaySpec;

// True when the match ran, to its end or until it was stopped; *started_pairs is the first pair of
// the task of which no game was started. False: an engine could not be used; `err` says why and
// err->field is the name of its side; "": that of no side.
bool play(Worker *worker, const PlaySpec *spec, int *started_pairs, Error *err);

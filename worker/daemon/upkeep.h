// What keeps a worker fit between tasks: a cache within its size, room on the disk, a sandbox that
// still works, a speed that still holds.
#pragma once

#include "worker/setup/worker.h"

typedef struct Upkeep {
    double slept_s; // of the machine, as of the last check
    bool crowded;   // said: the cache is over its size
    bool waits;     // said: something is missing
} Upkeep;

// `after_failure`: the last task failed by this machine's fault, so its sandbox is tried again.
// False: no task should be taken now; `why` goes on from "waiting for", and has been logged.
bool upkeep_check(Upkeep *upkeep, Worker *worker, bool after_failure, Error *why);

// Checks between two tasks: the size of the cache, free space on the disk, a sandbox that still
// works, and whether the speed must be measured again.
#pragma once

#include "worker/setup/worker.h"

typedef struct Upkeep {
    double slept_s; // how long the machine had slept at the last check
    bool crowded;   // it was logged that the cache is too large
    bool waits;     // it was logged that something is missing
} Upkeep;

// `after_failure`: this machine caused the failure of the last task, so the sandbox is tested
// again. False: the worker must not take a task now. `why` completes "waiting for …" and was
// logged.
bool upkeep_check(Upkeep *upkeep, Worker *worker, bool after_failure, Error *why);

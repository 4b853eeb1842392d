// How fast this machine is: nodes/s of one slot with all slots busy, by the bench of a pinned
// reference engine.
#pragma once

#include "worker/build/bench_output.h"
#include "worker/build/build.h"

typedef enum { RUN_DONE, RUN_FAILED, RUN_CANCELLED } RunOutcome;

// Runs `bench` of a built engine once, with so much memory (0: no limit). RUN_FAILED: it printed no
// count, or did not end; `log` takes what it printed (initialised by the caller; may be NULL).
RunOutcome bench_run(const BuildContext *context, const Build *build, const char *const *args,
                     int64_t memory_bytes, Bench *out, Str *log, Error *err);
// The median over `slots` benches at once, which share the memory; they are repeated for a few
// seconds. Nothing is kept: what a machine does beside, its heat and its power change its speed
// from task to task.
RunOutcome speed_measure(const BuildContext *context, const Build *build, const char *const *args,
                         int slots, int64_t memory_bytes, double *nodes_per_s, Error *err);

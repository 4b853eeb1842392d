// How fast this machine is: nodes/s of one slot with all slots busy, by the bench of a pinned
// reference engine.
#pragma once

#include "bench.h"
#include "build.h"

typedef enum { RUN_DONE, RUN_FAILED, RUN_CANCELLED } RunOutcome;

// Runs `bench` of a built engine once. RUN_FAILED: it printed no count, or did not end; `log` takes
// what it printed (initialised by the caller).
RunOutcome bench_run(const Workshop *shop, const Build *build, const char *const *args, Bench *out,
                     Str *log, Error *err);
// The median over `slots` benches at once, repeated until it has lasted a while. Kept with the
// build for some hours.
RunOutcome speed_measure(const Workshop *shop, const Build *build, const char *const *args,
                         int slots, double *nodes_per_s, Error *err);

// A command run to its end: a build or a bench. Its output (both streams) is read as it comes, only
// the last bytes are kept, and its time is limited. Interactive engines are the match runner's.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "server/common/error.h"
#include "server/common/str.h"
#include "worker/os/limits.h"

enum { JOB_OUTPUT_MAX = 65536 };

typedef enum { JOB_ENDED, JOB_TIMED_OUT, JOB_CANCELLED } JobEnd;

typedef struct JobSpec {
    const char *const *argv; // NULL-terminated
    int limit_s;
    const atomic_bool *cancel; // NULL, or ends the job when it reads true
    const OsLimits *limits;    // NULL: none
} JobSpec;

typedef struct JobResult {
    JobEnd end;
    int status; // as a shell gives it; meaningful for JOB_ENDED
    double seconds;
    char limit_exceeded[96]; // why it was killed, in words that go on from "it"; "": it was not
    Str output; // at most the last JOB_OUTPUT_MAX bytes; `overflow` when something came before
} JobResult;

// False: the command never ran. Afterwards none of its processes is left in its process group, and
// behind a sandbox's prefix none at all. `result` is released by the caller, also after false.
bool job_run(const JobSpec *spec, JobResult *result, Error *err);
void job_result_release(JobResult *result);

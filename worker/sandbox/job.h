// Runs a command to its end: a build or a bench. Its time is limited, and only the end of its
// output (both streams) is kept. The match runner runs engines, not this.
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
    const atomic_bool *cancel; // NULL, or the job ends when it becomes true
    const OsLimits *limits;    // NULL: none
} JobSpec;

typedef struct JobResult {
    JobEnd end;
    int status; // as in a shell; only for JOB_ENDED
    double seconds;
    char limit_exceeded[96]; // why it was killed, completes "it …"; "": it was not killed
    Str output;              // at most the last JOB_OUTPUT_MAX bytes; `overflow`: there were more
} JobResult;

// False: the command could not be started. Afterwards its process group has no processes; with a
// sandbox's prefix no process of the command is left at all. The caller releases `result`, also
// after false.
bool job_run(const JobSpec *spec, JobResult *result, Error *err);
void job_result_release(JobResult *result);

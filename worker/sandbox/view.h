// What a program in a sandbox can see and use.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "worker/os/sandbox_profile.h"
#include "worker/sandbox/argv.h"

// The paths of `folder` and `result` of the view inside level 2.
#define SANDBOX_FOLDER "/work"
#define SANDBOX_RESULT "/result"

typedef struct SandboxView {
    const char *folder;     // absolute path on the host; the program sees only it and the system
    bool writable;          // else read-only
    bool plays;             // it is an engine that is measured or plays: it stays on its CPUs
    const char *inside;     // working directory relative to `folder`; "" or NULL: `folder` itself
    const char *const *env; // NAME, value, NAME, value, …, NULL; may be NULL
    const char *result;   // NULL, or a file of the host that it writes as SANDBOX_RESULT (level 2)
    int64_t tmp_bytes;    // size of /tmp (level 2); of a writable folder (below)
    int64_t memory_bytes; // of all its processes together, including /tmp; 0: no limit
    int processes;        // and threads, at a time; 0: no limit
    int64_t file_bytes;   // largest file; 0: no limit
    int64_t cpu_s;        // CPU time of one process; 0: no limit
} SandboxView;

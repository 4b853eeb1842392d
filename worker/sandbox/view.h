// What a program in a sandbox sees and may use.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "worker/os/sandbox_profile.h"
#include "worker/sandbox/argv.h"

// Where a program inside level 2 finds `folder` and `result` of its view.
#define SANDBOX_FOLDER "/work"
#define SANDBOX_RESULT "/result"

typedef struct SandboxView {
    const char *folder;     // of the host, absolute; all that the program sees beside the system
    bool writable;          // else read-only
    const char *inside;     // folder to start in, relative to `folder`; "" or NULL: its top
    const char *const *env; // NAME, value, NAME, value, …, NULL; may be NULL
    const char *result; // NULL, or a file of the host that it may fill as SANDBOX_RESULT (level 2)
    int64_t tmp_bytes;  // size of /tmp (level 2); of a writable folder (below)
    int64_t memory_bytes; // for all its processes together, /tmp included; 0: no limit
    int processes;        // and threads, at a time; 0: no limit
    int64_t file_bytes;   // largest file; 0: no limit
    int64_t cpu_s;        // CPU time of one process; 0: no limit
} SandboxView;

// What a process and all that it starts may use, and what of the system it may touch. Plain data
// that goes with os_spawn; who sets the limits and how is the system's affair.
#pragma once

#include <stdint.h>

// A cage confines a process where no namespaces are to be had; see os_cage.h. NULL: none.
typedef struct OsCage OsCage;

// 0: no limit. A process that passes one of the first two is killed with all its descendants
// (os_overstepped tells); the others make its own calls fail.
typedef struct OsLimits {
    int64_t memory_bytes; // resident, of all its processes together
    const char *folder;   // NULL, or where its files are; with
    int64_t folder_bytes; // their sum
    int64_t file_bytes;   // largest file
    int64_t cpu_s;        // of one process
    int processes;        // at a time; where a command sets it inside a sandbox, 0 here
    const OsCage *cage;
} OsLimits;

// What a process and all that it starts may use, and what of the system it may touch. Plain data
// that goes with os_spawn; which call of the system sets them is the matter of the files for that system.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// A profile confines a process beyond what its command line does; see sandbox_profile.h. NULL: none.
typedef struct OsProfile OsProfile;

// 0: no limit. A process that passes one of the first four is killed with all its descendants
// (os_limit_exceeded tells); the others make its own calls fail.
typedef struct OsLimits {
    int64_t memory_bytes; // of all its processes together, `tmpfs` included
    const char *tmpfs;    // NULL, or where it, not we, finds a file system in memory; of this size
    int64_t tmpfs_bytes;
    const char *folder;   // NULL, or where its files are; with
    int64_t folder_bytes; // their sum
    int processes;        // and threads, of its own and its descendants
    int user_processes;   // and threads, of all that this user runs, started by any process
    int64_t file_bytes;   // largest file
    int64_t cpu_s;        // of one process
    bool confined;        // it runs strangers' code: its environment is a bare one, never ours
    const OsProfile *profile;
    const char *profile_folder; // what it may use beside the system, where the profile says so
    bool profile_writable;
} OsLimits;

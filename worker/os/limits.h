// The limits of a process and its descendants, and the parts of the system that it may access.
// Plain data, which os_spawn takes and applies.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// A profile confines a process in addition to its command line; see sandbox_profile.h. NULL: none.
typedef struct OsProfile OsProfile;

// 0: no limit. A process that exceeds `memory_bytes`, `folder_bytes` or `processes` is killed with
// all its descendants (see os_limit_exceeded). The other limits make its own system calls fail.
typedef struct OsLimits {
    int64_t memory_bytes; // of all its processes together, `tmpfs` included
    const char *tmpfs;    // NULL, or the path, in its own view, of a file system in memory
    int64_t tmpfs_bytes;  // the size of that file system
    const char *folder;   // NULL, or the folder with its files
    int64_t folder_bytes; // largest sum of the sizes of these files
    int processes;        // processes and threads of the process and its descendants
    int user_processes;   // all processes and threads of this user, whatever started them
    int64_t file_bytes;   // largest file
    int64_t cpu_s;        // CPU time of one process
    bool confined;        // it runs strangers' code: it gets a minimal environment, not ours
    bool plays;           // it is an engine that is measured or plays; see OsFilterKind
    const OsProfile *profile;
    const char *profile_folder; // that it may access; not with OS_PROFILE_HANDED
    bool profile_writable;
} OsLimits;

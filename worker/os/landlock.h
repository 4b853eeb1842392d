// Landlock: which files a process may still touch from now on, as the system enforces it on the
// process and all its descendants. Nothing but system calls, so that it can be entered between fork
// and exec, and by the program that is process 1 of a sandbox.
#pragma once

#include <stdbool.h>

// The versions that brought what matters here: moving files between folders, and keeping signals
// within.
enum { OS_LANDLOCK_REFER = 2, OS_LANDLOCK_SCOPES = 6 };

// A folder or file beyond what every program needs.
typedef struct OsGrant {
    const char *path;
    bool writable;
} OsGrant;

// What this kernel has; below 1: nothing, and errno tells.
int os_landlock_version(void);
// The system's programs, what they ask about CPUs and memory, harmless devices, and `grants`, up to
// the first without a path. The process must have given up new privileges. False: errno tells.
bool os_landlock_enter(int version, const OsGrant *grants);

// A profile for a process of strangers: a filter on system calls that neither compilers nor engines
// need, and, where there are no namespaces, access to nothing but the system's programs and one
// folder. Another system is another os_profile_*.c.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/common/error.h"
#include "worker/os/limits.h"

typedef enum {
    // The command itself applies the filter, which it finds at OS_PROFILE_FD, and starts the program
    // found at OS_INIT_FD (inside.h), which gives up access to files.
    OS_PROFILE_HANDED,
    OS_PROFILE_WHOLE, // entered before the command starts: the filter, and access to files
} OsProfileKind;

enum { OS_PROFILE_FD = 9, OS_INIT_FD = 10, OS_PROFILE_FILTER_MAX = 4096 };

struct OsProfile {
    OsProfileKind kind;
    int access_version; // of the system's file access control; 0: none that is of use
    size_t size;        // of the filter, in its instructions
    uint64_t filter[OS_PROFILE_FILTER_MAX];
};

// False: this system cannot make such a profile.
bool os_profile_init(OsProfile *profile, OsProfileKind kind, Error *err);
// Whether the profile keeps a process from sending signals to others of the same user by itself; if
// not, its filter forbids all signals.
bool os_profile_knows_signals(const OsProfile *profile);
// In a child between fork and exec, so async-signal-safe. False: errno tells.
bool os_profile_enter(const OsLimits *limits);

// The filter alone (seccomp_linux.c). `whole`: no namespaces help; `signals`: none may be sent.
bool os_filter_make(OsProfile *profile, bool whole, bool signals, Error *err);

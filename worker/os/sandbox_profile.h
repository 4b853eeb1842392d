// A sandbox profile for a process that runs strangers' code: a filter that refuses system calls
// which neither compilers nor engines need and, where there are no namespaces, access to nothing
// but the programs of the system and one folder. To support another system, write another
// sandbox_profile_*.c.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/common/error.h"
#include "worker/os/limits.h"

typedef enum {
    // The command itself (bubblewrap) reads the filter from OS_PROFILE_FD and applies it. Then it
    // starts the program at OS_INIT_FD (inside.h), which restricts access to files.
    OS_PROFILE_HANDED,
    // The child gets a file system of its own (mounts.h), applies the filter and restricts access
    // to files before the command starts.
    OS_PROFILE_HIDDEN,
    // The same without a file system of its own: other files cannot be opened, but the calls that
    // tell of names, sizes, owners and times find them.
    OS_PROFILE_WHOLE,
} OsProfileKind;

enum { OS_PROFILE_FD = 9, OS_INIT_FD = 10, OS_PROFILE_FILTER_MAX = 4096 };

// A program for seccomp; `size` in instructions.
typedef struct OsFilter {
    size_t size;
    uint64_t code[OS_PROFILE_FILTER_MAX];
} OsFilter;

struct OsProfile {
    OsProfileKind kind;
    int access_version;   // of Landlock; 0: no version that can be used
    OsFilter build, play; // `play` also for engines that are measured
};

// False: this system does not support such a profile.
bool os_profile_init(OsProfile *profile, OsProfileKind kind, Error *err);
// Whether Landlock restricts signals to processes inside the sandbox. If not, the filter refuses
// all signals.
bool os_profile_knows_signals(const OsProfile *profile);
// For a child between fork and exec, so it is async-signal-safe. On false, errno says why.
bool os_profile_enter(const OsLimits *limits);

// Makes a filter alone (seccomp_linux.c).
typedef struct OsFilterKind {
    bool whole;   // there are no namespaces
    bool signals; // refuses to send signals
    bool play;    // keeps an engine on its CPUs, and the CPU time of its children countable
} OsFilterKind;
bool os_filter_make(OsFilter *filter, OsFilterKind kind, Error *err);

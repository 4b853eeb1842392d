// Confines programs from other people by a prefix of the command line and by limits for os_spawn().
// Builds, benches and games all use it.
//
// Level 2 is bubblewrap: no network, no home, no other processes, a read-only system, and a private
// /tmp of limited size, the only place that can be written. Its process 1 is inside/init.c. Level 1
// is for systems without bubblewrap: access control and a filter for system calls
// (os/sandbox_profile.h). There is no network, and no file can be opened except the system's
// programs and the given folder. Where a user can make namespaces, level 1 has a file system of its
// own, too (os/mounts.h). Elsewhere a program can ask for the names, sizes, owners and times of all
// files of the host, because Landlock does not restrict these calls. Level 0 is only an empty
// environment and the limits, and the volunteer must ask for it. selftest/level_2 and level_1 list
// what a program can reach. All programs end with the worker (os/guard.h).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "server/common/error.h"
#include "worker/sandbox/view.h"

enum { SANDBOX_BEST = 2 };

typedef struct Sandbox {
    int level;
    OsProfile profile;
} Sandbox;

// Tries the levels from `most` down and takes the first that works. False with an explanation if
// none works and `allow_none` does not permit level 0. The caller must not move the sandbox in
// memory.
bool sandbox_detect(Sandbox *sandbox, int most, bool allow_none, Error *err);
// Whether it still runs programs.
bool sandbox_works(const Sandbox *sandbox);
// One line for people: what the program cannot reach, and at level 1 whether it can find out names
// of files.
const char *sandbox_describe(const Sandbox *sandbox);
// True if the program sees folders under other names than the host.
bool sandbox_has_namespaces(const Sandbox *sandbox);

// Appends the prefix; the caller appends the program. Fills `limits` for os_spawn(); they borrow
// from `view` and `sandbox`. Returns the path of `folder` as the program sees it (SANDBOX_FOLDER in
// level 2, the folder itself in the others), static or borrowed from `view`.
const char *sandbox_prefix(const Sandbox *sandbox, const SandboxView *view, Argv *argv,
                           OsLimits *limits);

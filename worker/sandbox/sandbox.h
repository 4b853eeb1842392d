// How a program of strangers is confined: as a prefix of its command line, and limits for os_spawn.
// Builds, benches and games go through the same.
//
// Level 2 is bubblewrap: no network, no home, no other processes, a read-only system, a private and
// sized /tmp, which is all that can be written; its process 1 is ours (inside/init.c). Level 1,
// where namespaces are not to be had, is access control and a filter on system calls (os/sandbox_profile.h):
// no network, no file but the system's programs and the given folder. Level 0 is no confinement but
// an empty environment and the limits, and has to be asked for. What a program then reaches, fact
// by fact, is listed in selftest/level_2 and level_1. All of it ends with the worker (os/guard.h).
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

// Finds the best level, at most `most`, by trying it. False with an explanation when there is none
// and `allow_none` does not permit level 0. The sandbox must stay where it is while it is used.
bool sandbox_detect(Sandbox *sandbox, int most, bool allow_none, Error *err);
// One line for people: what it keeps away.
const char *sandbox_describe(const Sandbox *sandbox);
// Whether the program sees other folders than the host does, under names of their own.
bool sandbox_has_namespaces(const Sandbox *sandbox);

// Appends the prefix; the program follows. `limits` is filled with what has to be given to os_spawn
// beside it; it borrows from `view` and `sandbox`. Returns the path by which the program knows
// `folder` (SANDBOX_FOLDER inside level 2, the folder itself below), static or borrowed from
// `view`.
const char *sandbox_prefix(const Sandbox *sandbox, const SandboxView *view, Argv *argv,
                           OsLimits *limits);

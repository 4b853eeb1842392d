// How a program of strangers is confined: as a prefix of its command line, and limits for os_spawn.
// Builds, benches and games go through the same.
//
// Level 2 is bubblewrap: no network, no home, no other processes, a read-only system, a private and
// sized /tmp, which is all that can be written; its process 1 is ours (inside/init.c). Level 1,
// where namespaces are not to be had, is access control and a filter on system calls (os_cage.h):
// no network, no file but the system's programs and the given folder. Level 0 is no confinement but
// an empty environment and the limits, and has to be asked for. What a program then reaches, fact
// by fact, is listed in selftest/level_2 and level_1. All of it ends with the worker (os_guard.h).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "server/common/error.h"
#include "worker/os/lockdown.h"

// A growing command line; its strings are its own.
typedef struct Argv {
    char **items; // NULL-terminated
    int count;
} Argv;

void argv_add(Argv *argv, const char *item);
void argv_add_all(Argv *argv, const char *const *items); // NULL-terminated
void argv_printf(Argv *argv, const char *format, ...) __attribute__((format(printf, 2, 3)));
void argv_release(Argv *argv);

enum { SANDBOX_BEST = 2 };

typedef struct Sandbox {
    int level;
    OsCage cage;
} Sandbox;

// Finds the best level, at most `most`, by trying it. False with an explanation when there is none
// and `allow_none` does not permit level 0. The sandbox must stay where it is while it is used.
bool sandbox_detect(Sandbox *sandbox, int most, bool allow_none, Error *err);
// One line for people: what it keeps away.
const char *sandbox_describe(const Sandbox *sandbox);
// Whether the program sees other folders than the host does, under names of their own.
bool sandbox_has_namespaces(const Sandbox *sandbox);

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

// Appends the prefix; the program follows. `limits` is filled with what has to be given to os_spawn
// beside it; it borrows from `view` and `sandbox`. Returns the path by which the program knows
// `folder` (SANDBOX_FOLDER inside level 2, the folder itself below), static or borrowed from
// `view`.
const char *sandbox_prefix(const Sandbox *sandbox, const SandboxView *view, Argv *argv,
                           OsLimits *limits);

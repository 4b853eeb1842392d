// How a program of strangers is confined: as a prefix of its command line. Builds, benches and
// games go through the same one.
//
// Level 2 is bubblewrap: no network, no home, no other processes, a read-only system, a private and
// sized /tmp. Level 0 is no confinement but an empty environment, and has to be asked for.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "../server/common/error.h"
#include "os_limits.h"

// A growing command line; its strings are its own.
typedef struct Argv {
    char **items; // NULL-terminated
    int count;
} Argv;

void argv_add(Argv *argv, const char *item);
void argv_add_all(Argv *argv, const char *const *items); // NULL-terminated
void argv_printf(Argv *argv, const char *format, ...) __attribute__((format(printf, 2, 3)));
void argv_release(Argv *argv);

typedef struct Sandbox {
    int level;
} Sandbox;

// Finds the best level by trying it. False with an explanation when there is none and
// `allow_none` does not permit level 0.
bool sandbox_detect(Sandbox *sandbox, bool allow_none, Error *err);
// One line for people: what it keeps away.
const char *sandbox_describe(const Sandbox *sandbox);

typedef struct SandboxView {
    const char *folder;     // of the host, absolute; all that the program sees beside the system
    bool writable;          // else read-only
    const char *inside;     // folder to start in, relative to `folder`; "" or NULL: its top
    const char *const *env; // NAME, value, NAME, value, …, NULL; may be NULL
    int64_t tmp_bytes;      // size of /tmp
    int64_t memory_bytes;   // for all its processes together, /tmp included; 0: no limit
    int processes;          // at a time; 0: no limit
    int64_t file_bytes;     // largest file; 0: no limit
    int64_t cpu_s;          // CPU time of one process; 0: no limit
} SandboxView;

// Appends the prefix; the program follows. `limits` is filled with what has to be given to os_spawn
// beside it; it borrows from `view` and `sandbox`. Returns the path by which the program knows
// `folder` ("/work" inside level 2, the folder itself below), static or borrowed from `view`.
const char *sandbox_prefix(const Sandbox *sandbox, const SandboxView *view, Argv *argv,
                           OsLimits *limits);

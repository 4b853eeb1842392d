// An engine made from a snapshot: unpacked, its files placed, its build command run in the
// sandbox, its binary taken out. Kept by everything that could make it another: snapshot, command,
// files, environment, compilers, processor.
#pragma once

#include <stdatomic.h>

#include "server/common/str.h"
#include "worker/build/recipe.h"
#include "worker/cache/store.h"
#include "worker/sandbox/sandbox.h"

// What builds and engines may use; see sandbox.h for what each means. Compilers run on all cores,
// so some grow with them.
enum { BUILD_LIMIT_S = 600, BENCH_LIMIT_S = 600, BINARY_MAX = 256 << 20 };
enum {
    BUILD_DISK_MIB = 1024,
    BUILD_MEMORY_MIB = 3072,
    BUILD_MEMORY_CORE_MIB = 512,  // more, for each core; but no more than is offered, if that is
    BUILD_MEMORY_LEAST_MIB = 512, // at least this
    BUILD_PROCESSES = 96,
    BUILD_PROCESSES_CORE = 16,
    ENGINE_TMP_MIB = 64,
    ENGINE_PROCESSES = 64,    // and one more for each core: threads count
    ENGINE_MEMORY_MIB = 2048, // of a bench
};

// What building needs to know of this machine.
typedef struct BuildContext {
    const Store *store;
    const Sandbox *sandbox;
    const char *compilers; // their versions, and the processor: part of a build's key
    int cores;             // that a build may use
    const atomic_bool *cancel;
    int limit_s;    // of a build and of a bench; 0: BUILD_LIMIT_S and BENCH_LIMIT_S
    int memory_mib; // that is offered; 0: enough
} BuildContext;

typedef struct Build {
    char key[65];
    char *folder; // of the kept build; holds `engine`, and `tree` with the recipe's files
    char *start;  // where in it the engine starts; NULL: at its top
} Build;
void build_release(Build *build);

// The snapshot and the files must have been fetched. `log` takes the compiler's last words and is
// initialised by the caller.
BuildOutcome build_engine(const BuildContext *context, const TaskBuild *recipe,
                          const char *snapshot, Build *out, Str *log, Error *err);
// Appends the confined command line of a built engine; its arguments follow. It may use so much
// memory (0: no limit); `limits` is for os_spawn and borrows from `context` and `build`.
void build_command(const BuildContext *context, const Build *build, int64_t memory_bytes,
                   Argv *argv, OsLimits *limits);

// What the programs need of the operating system beyond C and POSIX files: processes that cannot
// outlive us, their CPUs, the clock. Everything that knows which system this is sits behind this
// header, so that another system is another os_*.c.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/common/error.h"
#include "worker/os/limits.h"

// ---- clock --------------------------------------------------------------------------------------

int64_t os_now_ns(void); // monotonic, never set back

// ---- CPUs ---------------------------------------------------------------------------------------

enum { OS_CPUS_MAX = 1024 };

typedef struct OsCpus {
    int count;
    int ids[OS_CPUS_MAX];
} OsCpus;

// CPUs that this process may use (taskset and cgroup masks honoured), one of each physical core
// first, then their hyper-threads.
void os_cpus_allowed(OsCpus *out);
// How many physical cores are among them.
int os_physical_cores(const OsCpus *cpus);
// Takes `count` of `allowed` that no other match on this machine holds, and holds them until
// os_cpus_release or the end of the process. False, with nothing taken, when fewer are free.
typedef struct OsCpuClaim {
    OsCpus cpus;
    int locks[OS_CPUS_MAX];
} OsCpuClaim;
bool os_cpus_claim(OsCpuClaim *claim, const OsCpus *allowed, int count);
void os_cpus_release(OsCpuClaim *claim);
// Binds the calling thread, and what it spawns, to `count` CPUs.
bool os_thread_pin(const int *ids, int count, Error *err);

// ---- files --------------------------------------------------------------------------------------

// Lets this process hold at least `count` files, pipes and their like open at a time. False: the
// system does not allow as many.
bool os_files_allow(long count, Error *err);

// ---- processes ----------------------------------------------------------------------------------

// A child with pipes on its standard input and output, in a process group of its own. The system
// kills it when the thread that spawned it ends, however that comes about.
typedef struct OsProcess {
    int pid;               // 0: none
    int pidfd;             // readable once the child has ended
    int input;             // writes to its standard input; non-blocking
    int output;            // reads its standard output; non-blocking
    int errors;            // reads its standard error, with OS_ERRORS_PIPE; non-blocking; else -1
    struct OsWatch *watch; // its entry in the table of living children
} OsProcess;

typedef enum { OS_ERRORS_NOWHERE, OS_ERRORS_PIPE, OS_ERRORS_WITH_OUTPUT } OsErrors;

typedef struct OsSpawnSpec {
    const char *const *argv; // NULL-terminated; argv[0] without a slash is searched in PATH
    const char *directory;   // NULL: ours
    OsErrors errors;
    const OsLimits *limits; // NULL: none; borrowed until os_kill
} OsSpawnSpec;

// The child gets the calling thread's CPUs and no signal mask. False: it never ran.
bool os_spawn(OsProcess *process, const OsSpawnSpec *spec, Error *err);
// Why the child was killed for passing a limit, in words that go on from "it"; NULL: it was not.
// Static, until os_kill.
const char *os_limit_exceeded(const OsProcess *process);
// How the child ended, as "exit status 3" or "signal 11 (Segmentation fault)"; false while it runs
// and after os_kill.
bool os_ended(const OsProcess *process, char *out, size_t size);
// Kills the whole group at once, reaps the child, closes the pipes. Fine on a process that ended,
// and on a zeroed struct.
void os_kill(OsProcess *process);
// From now on descendants that leave their group and lose their parents become ours: os_kill ends
// them all, whatever they did to hide. For programs that start processes by os_spawn only.
void os_become_subreaper(void);
// Whether the child ends by itself within the time.
bool os_wait(const OsProcess *process, int timeout_ms);

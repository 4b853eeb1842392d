// What the programs need from the operating system beyond C and POSIX files: processes that cannot
// outlive this one, their CPUs, the clock. Code that depends on the system is in *_linux.c only; to
// support another system, write another set of these files.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/common/error.h"
#include "worker/os/job_group.h"
#include "worker/os/limits.h"

// ---- clock --------------------------------------------------------------------------------------

int64_t os_now_ns(void); // monotonic

// ---- CPUs ---------------------------------------------------------------------------------------

enum { OS_CPUS_MAX = 1024 };

typedef struct OsCpus {
    int count;
    int ids[OS_CPUS_MAX];
} OsCpus;

// The CPUs that this process may use by its masks (taskset, cgroup): first one of each physical
// core, then the other hyper-threads.
void os_cpus_allowed(OsCpus *out);
// The number of physical cores of `cpus`.
int os_physical_cores(const OsCpus *cpus);
// Claims `count` of the `allowed` CPUs that no other match on this machine has claimed, until
// os_cpus_release or the end of the process. If fewer are free, claims none and returns false.
typedef struct OsCpuClaim {
    OsCpus cpus;
    int locks[OS_CPUS_MAX];
} OsCpuClaim;
bool os_cpus_claim(OsCpuClaim *claim, const OsCpus *allowed, int count);
void os_cpus_release(OsCpuClaim *claim);
// Binds the calling thread, and the processes that it starts, to `count` CPUs.
bool os_thread_pin(const int *ids, int count, Error *err);

// ---- files --------------------------------------------------------------------------------------

// Raises the limit of open file descriptors of this process to at least `count`. False: the system
// does not allow so many.
bool os_files_allow(long count, Error *err);

// ---- processes ----------------------------------------------------------------------------------

// A child with pipes on its standard input and output, in a process group of its own. It ends when
// the thread that started it ends for any reason. If its limits say `confined`, the child is the
// keeper of the program (keeper.h), which ends all descendants of the program too.
typedef struct OsProcess {
    int pid;               // 0: none
    bool kept;             // `pid` is a keeper
    int pidfd;             // readable once the child has ended
    int input;             // our end of its standard input; non-blocking
    int output;            // our end of its standard output; non-blocking
    int errors;            // our end of its standard error; non-blocking; -1: no OS_ERRORS_PIPE
    OsJobGroup group;      // of a confined child, where there are control groups
    struct OsWatch *watch; // its entry in the table of living children
} OsProcess;

typedef enum { OS_ERRORS_NOWHERE, OS_ERRORS_PIPE, OS_ERRORS_WITH_OUTPUT } OsErrors;

typedef struct OsSpawnSpec {
    const char *const *argv; // NULL-terminated; argv[0] without a slash is searched in PATH
    const char *directory;   // NULL: ours
    OsErrors errors;
    const OsLimits *limits; // NULL: none; borrowed until os_kill
} OsSpawnSpec;

// The child inherits the CPUs of the calling thread, but not its signal mask. On false the program
// was not started.
bool os_spawn(OsProcess *process, const OsSpawnSpec *spec, Error *err);
// The limit for which the child was killed, as words that follow "it": "used more than …"; NULL: it
// was not killed for a limit. Valid until os_kill.
const char *os_limit_exceeded(const OsProcess *process);
// How the child ended, as "exit status 3" or "signal 11 (Segmentation fault)"; false while it runs
// and after os_kill.
bool os_ended(const OsProcess *process, char *out, size_t size);
// Kills the whole process group, or all descendants of a keeper, reaps the child, closes the pipes.
// The process may have ended already; on a zeroed struct there is no effect.
void os_kill(OsProcess *process);
// From now on this process becomes the parent of all descendants whose parent ends (a subreaper),
// so that os_kill can end them even if they have left the process group. Only for programs that
// start all their processes with os_spawn.
void os_become_subreaper(void);
// Waits until the child ends by itself. False: it has not ended after `timeout_ms`.
bool os_wait(const OsProcess *process, int timeout_ms);

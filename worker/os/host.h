// What the worker asks the operating system about its machine. Processes and CPUs are in process.h.
// To support another system, write another host_*.c.
#pragma once

#include <stdbool.h>

#include "server/common/error.h"
#include "worker/os/process.h"

typedef struct HostFacts {
    char os[128], arch[32], cpu[128];
    char isa[32];                      // the level of -march=native, such as "x86-64-v3"
    int physical_cores, logical_cores; // that this process may use
    double cpu_quota;                  // CPUs that its control group may use; 0: no quota
    int memory_mib;                    // of the machine, or of its control group if that is less
} HostFacts;
void os_host_facts(HostFacts *out);

// The limits of a process by its control group and all groups above it; 0: no limit. `groups` is
// its /proc/PID/cgroup, `root` the folder where control groups are mounted.
typedef struct CgroupLimits {
    double cpus, memory_bytes;
} CgroupLimits;
void os_cgroup_limits(const char *groups, const char *root, CgroupLimits *out);

// Claims `count` of the `allowed` CPUs among the workers of this machine, as os_cpus_claim does
// among matches.
bool os_cpus_reserve(OsCpuClaim *claim, const OsCpus *allowed, int count);

// The id of this boot of the machine (36 characters, "" if not known), the seconds since the boot,
// and for how many of them the machine was suspended, which os_now_ns does not count.
typedef struct OsBoot {
    char id[40];
    double seconds, slept_s;
} OsBoot;
void os_boot(OsBoot *out);

// Bytes that an ordinary user may still write to the file system of `path`; -1: not known.
int64_t os_disk_free(const char *path);
// The niceness this process runs at.
int os_nice(void);

// Returns a descriptor that holds the lock of the file until it is closed or the process ends. On
// failure returns -1; err->code is "locked" if another process holds the lock.
int os_lock_file(const char *path, Error *err);

// Two locks on an existing file or folder, held until the descriptor is closed. With os_use any
// number of processes share it; with os_seize one process has it alone, in order to remove it.
// Returns -1 if the file does not exist, or if os_seize finds it locked. os_use waits until an
// exclusive lock is released, and sets the time of last use.
int os_use(const char *path);
int os_seize(const char *path);

// CPU seconds since boot: all_s of all processes (and stolen by a hypervisor), ours_s of this
// process and its living descendants.
typedef struct CpuUse {
    double all_s, ours_s, wall_s; // wall_s: elapsed seconds times the CPUs of the machine
} CpuUse;
void os_cpu_use(CpuUse *out);

// Counters of the machine since boot that show whether it is overloaded; 0 if not known.
typedef struct HostLoad {
    double wall_s, stolen_s; // elapsed seconds times CPUs; CPU time that went to other guests
    double swapped_in_mib;
} HostLoad;
void os_host_load(HostLoad *out);

// The exit status of a child that has ended, as in a shell (128 + signal); -1 while it runs. The
// child is not reaped; os_kill does that.
int os_exit_status(const OsProcess *process);

// How many processes run the file `program`. Processes of other users may not be visible.
int os_count_running(const char *program);

// Sets the niceness of this process and of the children that it starts from now on.
bool os_set_nice(int nice, Error *err);

// What the worker asks of the operating system about the machine it runs on; processes and CPUs are
// process.h's. Another system is another os_host_*.c.
#pragma once

#include <stdbool.h>

#include "server/common/error.h"
#include "worker/os/process.h"

typedef struct HostFacts {
    char os[128], arch[32], cpu[128];
    char isa[32];                      // what -march=native means here, as "x86-64-v3"
    int physical_cores, logical_cores; // that this process may use
    double cpu_quota;                  // CPUs that its control group may use; 0: no quota
    int memory_mib;                    // of the machine or, where less, of its control group
} HostFacts;
void os_host_facts(HostFacts *out);

// What the control groups of a process allow it, those above its own included; 0: no limit.
// `groups` is its /proc/PID/cgroup, `root` where they are mounted.
typedef struct CgroupLimits {
    double cpus, memory_bytes;
} CgroupLimits;
void os_cgroup_limits(const char *groups, const char *root, CgroupLimits *out);

// Takes `count` of `allowed` for this process among the workers of this machine, as os_cpus_claim
// does among matches.
bool os_cpus_reserve(OsCpuClaim *claim, const OsCpus *allowed, int count);

// Which boot of the machine this is (36 characters, "" where the system does not say), seconds
// since it, and how many of them the machine slept, which os_now_ns does not count.
typedef struct OsBoot {
    char id[40];
    double seconds, slept_s;
} OsBoot;
void os_boot(OsBoot *out);

// Bytes that an ordinary user may still write to the file system of `path`; -1: not known.
int64_t os_disk_free(const char *path);
// The niceness this process runs at.
int os_nice(void);

// A descriptor that holds the file's lock until it is closed or the process ends; -1 while another
// process holds it or on error (then err->code is not "locked").
int os_lock_file(const char *path, Error *err);

// Two locks on a file or folder that is there, kept until the descriptor is closed: any number of
// processes may use it, or one may have it for itself in order to remove it. -1 where it is gone or
// the other lock is held; os_use waits for a removal to end. os_use also marks it as used now.
int os_use(const char *path);
int os_seize(const char *path);

// CPU seconds since boot that were spent by anyone (and stolen by a hypervisor), and by this
// process and all its living descendants.
typedef struct CpuUse {
    double all_s, ours_s, wall_s; // wall_s: seconds times CPUs of the machine
} CpuUse;
void os_cpu_use(CpuUse *out);

// Counters of the machine since boot that tell whether games get what they are owed; 0 where the
// system does not tell.
typedef struct HostLoad {
    double wall_s, stolen_s; // seconds times CPUs; what a hypervisor gave to others
    double swapped_in_mib;
} HostLoad;
void os_host_load(HostLoad *out);

// The exit status of a child that has ended, as a shell gives it (128 + signal); -1 while it runs.
// The child stays to be reaped by os_kill.
int os_exit_status(const OsProcess *process);

// How many processes run that program file; those of other users may stay unseen.
int os_count_running(const char *program);

// From now on this process and its children run at the given niceness.
bool os_set_nice(int nice, Error *err);

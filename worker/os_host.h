// What the worker asks of the operating system about the machine it runs on; processes and CPUs are
// os.h's. Another system is another os_host_*.c.
#pragma once

#include <stdbool.h>

#include "../server/common/error.h"
#include "os.h"

typedef struct HostFacts {
    char os[128], arch[32], cpu[128];
    int physical_cores, logical_cores; // that this process may use
    int memory_mib;
} HostFacts;
void os_host_facts(HostFacts *out);

// A descriptor that holds the file's lock until it is closed or the process ends; -1 while another
// process holds it or on error (then err->code is not "locked").
int os_lock_file(const char *path, Error *err);

// CPU seconds since boot that were spent by anyone (and stolen by a hypervisor), and by this
// process and all its living descendants.
typedef struct CpuUse {
    double all_s, ours_s, wall_s; // wall_s: seconds times CPUs of the machine
} CpuUse;
void os_cpu_use(CpuUse *out);

// The exit status of a child that has ended, as a shell gives it (128 + signal); -1 while it runs.
// The child stays to be reaped by os_kill.
int os_exit_status(const OsProcess *process);

// From now on this process and its children run at the given niceness.
bool os_set_nice(int nice, Error *err);

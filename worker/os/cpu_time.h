// How much CPU time processes used, and how long they were ready to run but had no CPU. This
// distinguishes an engine that thought for too long from a machine that was busy.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "worker/os/process.h"
#include "worker/os/tree_cpu.h"

// Sums since an arbitrary moment; only differences are meaningful.
typedef struct OsUsage {
    int64_t cpu_ns;
    int64_t delay_ns; // ready to run, but not running
} OsUsage;

enum { OS_TASKS_MAX = 256 };

// Measures one process, all its descendants, and all their threads. The CPU time is exact, see
// tree_cpu.h. The delay of at most OS_TASKS_MAX threads is measured; that of threads that have
// ended stays in the sum. A zeroed meter measures nothing.
typedef struct OsMeter {
    int root; // process id; 0: none
    OsTreeCpu cpu;
    int64_t scanned_ns;
    int64_t delay_ns;
    int count;
    struct OsTask {
        int id, process;
        int file;         // descriptor of its schedstat
        int64_t delay_ns; // seen last
    } tasks[OS_TASKS_MAX];
} OsMeter;

void os_meter_start(OsMeter *meter, int pid);
// The CPU time up to now, in ns; cheap. -1: the process has ended, or this system does not tell.
int64_t os_meter_cpu(OsMeter *meter);
// The usage up to now. Searches for threads whose delay is not measured yet if the last search was
// more than `scan_age_ns` ago. False: the process has ended, or this system does not tell.
bool os_meter_read(OsMeter *meter, int64_t scan_age_ns, OsUsage *out);
void os_meter_stop(OsMeter *meter); // no effect on a zeroed meter

// The usage of the calling thread. `file` is the result of os_thread_usage_open on the same thread:
// -1 if this system does not provide the numbers.
int os_thread_usage_open(void);
bool os_thread_usage(int file, OsUsage *out);

// CPU time in ns that a hypervisor gave to other guests: the sum over `count` CPUs, or the mean of
// all CPUs if `count` is 0. The resolution is 10 ms. 0 if it is not known.
int64_t os_stolen_ns(const int *ids, int count);

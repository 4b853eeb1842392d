// How much CPU time processes used, and how long they were ready to run but had no CPU. This
// distinguishes an engine that thought for too long from a machine that was busy.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "worker/os/process.h"

// Sums since an arbitrary moment; only differences are meaningful.
typedef struct OsUsage {
    int64_t cpu_ns;
    int64_t delay_ns; // ready to run, but not running
} OsUsage;

enum { OS_TASKS_MAX = 256 };

// Measures one process, all its descendants, and all their threads. What ended processes and
// threads used stays in the sum. At most OS_TASKS_MAX threads are measured. A zeroed meter measures
// nothing.
typedef struct OsMeter {
    int root; // process id; 0: none
    int64_t scanned_ns;
    OsUsage sum;
    int count;
    struct OsTask {
        int id, process;
        int file; // descriptor of its schedstat
        OsUsage seen;
    } tasks[OS_TASKS_MAX];
} OsMeter;

void os_meter_start(OsMeter *meter, int pid);
// The usage up to now. Searches for new threads and processes if the last search was more than
// `scan_age_ns` ago. Returns false if this system does not provide the numbers.
bool os_meter_read(OsMeter *meter, int64_t scan_age_ns, OsUsage *out);
void os_meter_stop(OsMeter *meter); // no effect on a zeroed meter

// The usage of the calling thread. `file` is the result of os_thread_usage_open on the same thread:
// -1 if this system does not provide the numbers.
int os_thread_usage_open(void);
bool os_thread_usage(int file, OsUsage *out);

// CPU time in ns that a hypervisor gave to other guests: the sum over `count` CPUs, or the mean of
// all CPUs if `count` is 0. The resolution is 10 ms. 0 if it is not known.
int64_t os_stolen_ns(const int *ids, int count);

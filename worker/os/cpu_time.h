// How much CPU time processes were given, and how long they were ready to run and got none: what
// tells an engine that thought for too long from a machine that was busy elsewhere.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "worker/os/process.h"

// Sums since some moment; only differences mean something.
typedef struct OsUsage {
    int64_t cpu_ns;
    int64_t delay_ns; // ready to run, but not running
} OsUsage;

enum { OS_TASKS_MAX = 256 };

// One process, all that descends from it, and all their threads. Processes and threads that end
// keep what they had; those beyond OS_TASKS_MAX are not looked at. Zero: measures nothing yet.
typedef struct OsMeter {
    int root; // process number, 0: none
    int64_t scanned_ns;
    OsUsage sum;
    int count;
    struct OsTask {
        int id, process;
        int file; // its schedstat, open
        OsUsage seen;
    } tasks[OS_TASKS_MAX];
} OsMeter;

void os_meter_start(OsMeter *meter, int pid);
// What was used up to now. Looks for new threads and processes where the last look was more than
// `scan_age_ns` ago. False: this system does not tell.
bool os_meter_read(OsMeter *meter, int64_t scan_age_ns, OsUsage *out);
void os_meter_stop(OsMeter *meter); // fine on a zeroed one

// The calling thread's own; `file` is what os_thread_usage_open returned on the same thread, -1
// where this system does not tell.
int os_thread_usage_open(void);
bool os_thread_usage(int file, OsUsage *out);

// CPU time that a hypervisor gave to others, over `count` CPUs (0: the mean of all), in ns; steps
// are 10 ms. 0 where there is no telling.
int64_t os_stolen_ns(const int *ids, int count);

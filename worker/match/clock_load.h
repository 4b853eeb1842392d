// Where the time of a move went: CPU time that the engine got, and time in which it or the referee
// was ready to run while the machine was busy elsewhere. Readings are taken seldom enough to cost
// nothing that shows, so moves of less than 5 ms are not measured.
#pragma once

#include "worker/uci/engine_process.h"

// The slot's own thread and CPUs. Zero before load_open.
typedef struct SlotLoad {
    int file; // for os_thread_usage
    const int *cpus;
    int cpu_count;
    int64_t thread_at_ns, stolen_at_ns;
    OsUsage thread;
    int64_t stolen_ns;
} SlotLoad;

// On the slot's thread; `cpus` are those it is pinned to, 0 of them: none. Borrowed.
void load_open(SlotLoad *slot, const int *cpus, int cpu_count);
void load_close(SlotLoad *slot);

// Before "go", off the engine's clock.
void load_move_begins(SlotLoad *slot, EngineProcess *engine);
// After the answer. False: not measured. delay_ns is the mean of the engine's threads plus the
// referee's, where waiting for each other does not count.
bool load_move_ended(SlotLoad *slot, EngineProcess *engine, int64_t elapsed_ns, OsUsage *out);
// The same where no answer came, however short the time was.
bool load_flag_fell(SlotLoad *slot, EngineProcess *engine, int64_t elapsed_ns, OsUsage *out);
// What the hypervisor took of the slot's CPUs since load_move_begins, up to a second more.
int64_t load_stolen_ns(SlotLoad *slot);

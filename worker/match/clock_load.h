// Where the time of a move went: CPU time that the engine used, and time in which it or the referee
// was ready to run while the machine was busy elsewhere. And the CPU time that an engine uses while
// it is not to move.
//
// Readings cost time, so moves of less than 5 ms are not measured; all CPU time that there was room
// for in such a move counts as its own, since an engine gains nothing by using in its opponent's
// time what it could have used in its own. Readings of the CPU time that are less than 1 ms apart
// are left out. Nothing is lost by either: the next reading has it all.
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

// The engine is ready, and its opponent may be to move.
void load_rest_begins(EngineProcess *engine);
// The CPU time that the engine has used while it was not to move, since the last call of this or of
// load_rest_begins(). 0 if it is not known, or if that was less than `age_ns` ago.
enum { REST_AGE_NS = 1000000 };
int64_t load_rest_ns(EngineProcess *engine, int64_t age_ns);

// Before "go", off the engine's clock.
void load_move_begins(SlotLoad *slot, EngineProcess *engine);
// After the answer. A member of *out that was not measured is -1. delay_ns is the mean of the
// engine's threads plus the referee's, where waiting for each other does not count.
void load_move_ended(SlotLoad *slot, EngineProcess *engine, int64_t elapsed_ns, OsUsage *out);
// The same where no answer came, however short the time was.
void load_flag_fell(SlotLoad *slot, EngineProcess *engine, int64_t elapsed_ns, OsUsage *out);
// What the hypervisor took of the slot's CPUs since load_move_begins, up to a second more.
int64_t load_stolen_ns(SlotLoad *slot);

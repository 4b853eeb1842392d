// Measures how the time of a move was used: the CPU time of the engine, and the time in which the
// engine or the referee was ready to run while the machine was busy with other programs. It also
// measures the CPU time that an engine uses while it is not to move.
//
// Readings cost time, so moves of less than 5 ms are not measured. Their CPU time is assumed to be
// all that the engine could use in the time of the move: an engine gains nothing if it uses in its
// opponent's time what it could have used in its own. Readings of the CPU time that would be less
// than 1 ms apart are omitted. Nothing is lost by either, because the counters go on: the next
// reading includes the time.
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

// Called by the slot's thread. `cpus` are the CPUs to which it is pinned; cpu_count 0: it is not
// pinned. Borrowed.
void load_open(SlotLoad *slot, const int *cpus, int cpu_count);
void load_close(SlotLoad *slot);

// Starts to count the CPU time of an engine that is not to move.
void load_rest_begins(EngineProcess *engine);
// The CPU time that the engine has used while it was not to move, since the last call of this
// function or of load_rest_begins(). 0 if it is not known, or if that call was less than `age_ns`
// ago.
enum { REST_AGE_NS = 1000000 };
int64_t load_rest_ns(EngineProcess *engine, int64_t age_ns);

// Call it before "go", when the engine's clock does not run.
void load_move_begins(SlotLoad *slot, EngineProcess *engine);
// Call it after the answer. A member of *out that was not measured is -1. delay_ns is the mean
// delay of the engine's threads plus the delay of the referee, without the time in which they
// waited for each other.
void load_move_ended(SlotLoad *slot, EngineProcess *engine, int64_t elapsed_ns, OsUsage *out);
// The same if no answer came. It always measures.
void load_flag_fell(SlotLoad *slot, EngineProcess *engine, int64_t elapsed_ns, OsUsage *out);
// The CPU time that the hypervisor took from the slot's CPUs since load_move_begins(), or since up
// to one second before.
int64_t load_stolen_ns(SlotLoad *slot);

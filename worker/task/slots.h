// The number of games of a test that this machine can play at a time, from its CPUs and its memory.
// Pure functions.
#pragma once

#include <stdint.h>

typedef struct SlotDemand {
    int threads;         // CPUs of a game: its engines think in turns and share them
    int64_t hash_mib[2]; // of each side
    int64_t nets_mib[2]; // each side's nets, which a process loads
} SlotDemand;

// Resident memory of one engine: its hash, its nets, 64 MiB for code and tables, and 8 MiB for each
// further thread.
int64_t slots_engine_mib(int threads, int64_t hash_mib, int64_t nets_mib);
// Of a game: both engines.
int64_t slots_game_mib(const SlotDemand *demand);
// min(cores / threads, (memory - the worker's own 64 MiB) / game); 0: not even one game fits.
int slots_fit(const SlotDemand *demand, int cores, int memory_mib);
// The memory limit of the engine of a side, when so many games (at least 1) are played at a time:
// what it needs, and a proportional part of the memory that the games do not need.
int64_t slots_limit_mib(const SlotDemand *demand, int side, int memory_mib, int slots);

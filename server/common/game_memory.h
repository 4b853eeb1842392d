// The memory that a game of a test needs, and how many games a machine can play at a time. Server
// and worker compute it here, so that the server deals only what the worker will play. Pure
// functions.
#pragma once

#include <stdint.h>

typedef struct GameMemory {
    int threads[2];      // of the engine of each side; 0: there is no such side
    int64_t hash_mib[2]; // of each side: see game_hash_mib()
    int64_t nets_mib[2]; // the files of each side that are placed before the build: its nets
} GameMemory;

// An engine's hash without an option says 16 MiB, as most engines do.
enum { HASH_DEFAULT_MIB = 16 };

// The hash of an engine after one option more: `value` if the option is Hash, else `before`. The
// names of UCI's options are compared without case. A value that is no number counts as the
// default.
int64_t game_hash_after(int64_t before, const char *name, const char *value);
// The hash of an engine with these options (option_text.h).
int64_t game_hash_mib(const char *options);

// Resident memory of one engine: its hash, its nets, 64 MiB for code and tables, and 8 MiB for each
// further thread.
int64_t game_engine_mib(int threads, int64_t hash_mib, int64_t nets_mib);
// CPUs of a game: its engines think in turns and share those of the side with the most threads.
int game_cores(const GameMemory *game);
// Of a game: both engines.
int64_t game_memory_mib(const GameMemory *game);
// Games at a time of `game_mib` each: as many as the cores allow, or fewer if the memory without
// the worker's own 64 MiB is short. 0: not even one fits.
int game_slots(int64_t game_mib, int threads, int cores, int64_t memory_mib);
// The memory limit of the engine of a side, when so many games (at least 1) are played at a time:
// what it needs, and a proportional part of the memory that the games do not need.
int64_t game_limit_mib(const GameMemory *game, int side, int64_t memory_mib, int slots);

// What the machine was like while a batch was played: whether the engines got their CPUs, and
// whether they thought as fast as before. It goes to the server with the batch, which marks the
// pairs of a machine that was busy or slow; games count all the same.
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "worker/match/game_record.h"
#include "worker/os/host.h"

// Shares of 1; speeds in nodes/s of one engine in play, 0: not known.
typedef struct BatchLoad {
    double delay; // of the engines' thinking time, in which they were ready to run and had no CPU
    double steal; // of CPU time that a hypervisor took
    double swap_mib;            // swapped in by the machine meanwhile
    double speed, speed_before; // of the base; `before`: over the first batch of the task
} BatchLoad;

// Sums over the games of a batch, and the machine's counters when it began.
typedef struct LoadMeter {
    int64_t thinking_us, delay_us;
    int64_t nodes, searching_us; // of the base
    HostLoad machine;
} LoadMeter;

void load_begin(LoadMeter *meter);
// Engine 1 of the game is the base.
void load_add(LoadMeter *meter, const GameRecord *game);
// Since load_begin; `speed_before` is that of the first batch, 0 for the first itself.
BatchLoad load_end(const LoadMeter *meter, double speed_before);

// Where the server's marks begin as it is installed. NULL: nothing to mark; else what is wrong, in
// words that go on from "this machine". Returns `out`.
enum { LOAD_TEXT_MAX = 160 };
const char *load_flag(const BatchLoad *load, double busy, char out[LOAD_TEXT_MAX]);

// Member `load` of POST batches. New.
json_t *load_to_json(const BatchLoad *load);

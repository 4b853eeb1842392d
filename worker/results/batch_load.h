// The load of the machine during a batch: whether the engines got CPU time, and whether they were
// as fast as before. It is sent with the batch. The server flags the pairs of a machine that was
// busy or slow; the games count.
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "worker/match/game_record.h"
#include "worker/os/host.h"

// Shares are 0 to 1. Speeds are nodes/s of one engine in games; 0: unknown.
typedef struct BatchLoad {
    double delay;        // share of the engines' thinking time in which they waited for a CPU
    double steal;        // share of CPU time that a hypervisor took
    double swap_mib;     // swapped in by the machine during the batch
    double speed;        // of the base side
    double speed_before; // the same in the first batch of the task
    double rest[2];      // CPU seconds of the new side and of the base while the other was to move
} BatchLoad;

// Sums over the games of a batch, and the machine's counters when it began.
typedef struct LoadMeter {
    int64_t thinking_us, delay_us;
    int64_t nodes, searching_us; // of the base
    int64_t rest_us[2];
    HostLoad machine;
} LoadMeter;

void load_begin(LoadMeter *meter);
// Engine 1 of the game is the base. A game in which an engine computed in its opponent's time tells
// nothing about the machine: only its rest_us counts.
void load_add(LoadMeter *meter, const GameRecord *game);
// Since load_begin; `speed_before` is that of the first batch, 0 for the first itself.
BatchLoad load_end(const LoadMeter *meter, double speed_before);

// Compares with the server's default limits for flags. NULL: within them. Else `out`, with text
// that completes "this machine …".
enum { LOAD_TEXT_MAX = 160 };
const char *load_flag(const BatchLoad *load, double busy, char out[LOAD_TEXT_MAX]);

// Member `load` of POST batches. New.
json_t *load_to_json(const BatchLoad *load);

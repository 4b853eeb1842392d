// Time controls as tests name them: "10+0.1", "40/10+0.1", "st=0.1", "nodes=20000", "depth=8".
// The server computes durations from them; the worker scales them to its machine (worker/match/time_scale.h).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "server/common/error.h"

enum { TC_TEXT_MAX = 64 };

typedef struct TimeControl {
    int moves;                  // a period; 0: the whole game
    double base_s, increment_s; // clock; base_s 0: none
    double move_s;              // st=
    int64_t nodes;              // nodes=
    int depth;                  // depth=
} TimeControl;

// 422 `bad_tc` with a sentence. Bounds: base 0.01 s to 3 h, increment to 300 s, st 0.001 to 600 s.
bool tc_parse(const char *text, TimeControl *out, Error *err);
// Whether a slower machine gets more time: clocks and st, not nodes and depth.
bool tc_is_scaled(const TimeControl *tc);
// Expected seconds of a game, both sides: (base + 68 inc) · 2 · 0.92, as Fishtest reckons. `speed`
// in nodes/s serves nodes= and depth=.
double tc_game_seconds(const TimeControl *tc, double speed);
// Seconds of the longest game to be expected: 300 moves a side, no player ahead of the clock.
double tc_longest_seconds(const TimeControl *tc, double speed);
// Cost of a game against 10+0.1 with one thread.
double tc_ratio(const TimeControl *tc, int threads);
// Pairs in a batch: max(1, min(16, 16/ratio)), rounded.
int tc_batch_pairs(const TimeControl *tc, int threads);

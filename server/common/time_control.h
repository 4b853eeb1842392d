// Time controls as tests name them: "10+0.1", "40/10+0.1", "st=0.1", "nodes=20000", "depth=8". The
// server computes durations from them. The worker scales them to its machine
// (worker/match/time_scale.h).
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

// False: 422 `bad_tc` with a sentence. Bounds: base 0.01 s to 3 h, increment at most 300 s, st
// 0.001 to 600 s.
bool tc_parse(const char *text, TimeControl *out, Error *err);
// Whether a slower machine gets more time. True for clocks and st, false for nodes and depth.
bool tc_is_scaled(const TimeControl *tc);
// Expected seconds of a game, both sides together: (base + 68 inc) · 2 · 0.92, as in Fishtest.
// `speed`, in nodes/s, is used for nodes= and depth=.
double tc_game_seconds(const TimeControl *tc, double speed);
// Seconds of the longest expected game: 300 moves of each side, and both sides use all their time.
double tc_longest_seconds(const TimeControl *tc, double speed);
// Cost of a game relative to a game at 10+0.1 with one thread.
double tc_ratio(const TimeControl *tc, int threads);
// Pairs in a batch: max(1, min(16, 16/ratio)), rounded.
int tc_batch_pairs(const TimeControl *tc, int threads);

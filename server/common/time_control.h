// Time controls as tests name them: "10+0.1", "40/10+0.1", "st=0.1", "nodes=20000", "depth=8". The
// server computes durations from them. Server and worker scale them to a machine by the same
// functions, so the server can check the clock that a batch reports.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "server/common/error.h"

enum { TC_TEXT_MAX = 64 };

typedef struct TimeControl {
    double base_s, increment_s; // clock; base_s 0: none
    double move_s;              // st=
    int64_t nodes;              // nodes=
    int moves;                  // of a period of the clock; 0: the whole game
    int depth;                  // depth=
} TimeControl;

// False: 422 `bad_tc` with a sentence. Bounds: base 0.01 s to 3 h, increment at most 300 s, st
// 0.001 to 600 s.
bool tc_parse(const char *text, TimeControl *out, Error *err);
// Whether a slower machine gets more time. True for clocks and st, false for nodes and depth.
bool tc_is_scaled(const TimeControl *tc);
// Writes the time control as a batch reports it: "10.000+0.100". Returns `out`.
char *tc_text(const TimeControl *tc, char out[TC_TEXT_MAX]);
// Multiplies the times by `factor`, to the nearest millisecond. No time becomes 0. Limits of nodes
// and depth stay.
void tc_scale(TimeControl *tc, double factor);

// How the clocks of a test are fitted to machines: nodes/s of a slot, and bounds of the factor.
typedef struct ClockScale {
    double reference_speed, min, max;
} ClockScale;
// *factor = reference / measured, but at least `min`. False: it would be above `max`, so the
// machine is too slow; *factor is `max` then.
bool clock_scale_factor(const ClockScale *scale, double measured_speed, double *factor);
// The clock of a machine that measured `measured_speed`: `text` parsed and scaled, by the greatest
// factor if the machine is too slow. False: 422 `bad_tc`.
bool clock_scale_apply(const ClockScale *scale, const char *text, double measured_speed,
                       TimeControl *out, Error *err);
// The least measured speed with which a machine is not too slow.
double clock_scale_least(const ClockScale *scale);

// Expected seconds of a game, both sides together: (base + 68 inc) · 2 · 0.92, as in Fishtest.
// `speed`, in nodes/s, is used for nodes= and depth=.
double tc_game_seconds(const TimeControl *tc, double speed);
// Seconds of the longest expected game: 300 moves of each side, and both sides use all their time.
double tc_longest_seconds(const TimeControl *tc, double speed);
// Cost of a game relative to a game at 10+0.1 with one thread.
double tc_ratio(const TimeControl *tc, int threads);
// Pairs in a batch: max(1, min(16, 16/ratio)), rounded.
int tc_batch_pairs(const TimeControl *tc, int threads);

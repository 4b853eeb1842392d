// How well the clock was served: what moves took beyond what engines say they took, and how long
// engines were ready to think and had no CPU.
#pragma once

#include "server/common/str.h"
#include "worker/match/match_spec.h"

enum { TIMING_BUCKETS = 256 };

typedef struct Timing {
    long moves, told;               // all, and those of which the engine told its time
    long latencies[TIMING_BUCKETS]; // of the latter, eight buckets to an octave of µs
    int64_t latency_max_us;
    int64_t thought_us;
    long measured; // moves that were long enough for their delay to be measured
    int64_t delayed_us, delay_max_us;
    long time_losses, overloaded;
} Timing;

void timing_add_game(Timing *timing, const GameRecord *game);
// One line, nothing where no move was played.
void timing_report(Str *out, const Timing *timing);
// The latency that `share` of the moves stay below, in µs, exact to an eighth of an octave.
double timing_quantile_us(const Timing *timing, double share);

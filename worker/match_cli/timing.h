// The timing of a match: the latency of moves (the elapsed time minus the time that the engine
// reports), how long engines were ready to run and had no CPU, and what they used of the CPU while
// their opponents were to move.
#pragma once

#include "server/common/str.h"
#include "worker/match/match_spec.h"
#include "worker/match_cli/args_values.h"

enum { TIMING_BUCKETS = 256 };

typedef struct Timing {
    long moves, told;               // all moves, and those for which the engine reported a time
    long latencies[TIMING_BUCKETS]; // of the latter; eight buckets per octave of µs
    int64_t latency_max_us;
    int64_t thought_us;
    long measured; // moves that took long enough to measure their delay
    int64_t delayed_us, delay_max_us;
    long time_losses, overloaded;
    int64_t rest_us[MATCH_ENGINES_MAX]; // of each engine: see record_rest_us
    Said said[MATCH_ENGINES_MAX];
} Timing;

void timing_add_game(Timing *timing, const GameRecord *game);
// Writes one line; nothing if no move was played.
void timing_report(Str *out, const Timing *timing, const EngineSpec *engines, int engine_count);
// Writes a line for each engine that said something wrong about its moves.
void said_report(Str *out, const Timing *timing, const EngineSpec *engines, int engine_count);
// The quantile `share` (0 to 1) of the latencies in µs, exact to an eighth of an octave.
double timing_quantile_us(const Timing *timing, double share);

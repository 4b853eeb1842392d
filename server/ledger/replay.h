// Plays the games of a batch over again with the rules, as their worker uploaded them, and compares
// them with its counts: legal moves, results that follow, clocks that can be. Pure, and outside
// bytes: every length is bounded.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/common/error.h"

// A game as JSON in bytes, and what the games of a batch may take, as text and packed. Measured: a
// game of 2048 plies, the longest there is, with the longest numbers, takes 67 KB, and 31 KB packed
// by zstd; one of 120 plies 4 KB and 2 KB.
enum { GAME_LINE_MAX = 128 << 10, GAME_PACKED_MAX = 32 << 10 };
size_t games_text_max(int64_t pairs);   // at most 64 MiB
size_t games_packed_max(int64_t pairs); // at most 8 MiB

typedef struct ReplayFacts {
    int64_t first_pair;   // number in the test of the batch's first pair
    const char *outcomes; // a digit a pair
    int64_t crashes, time_losses;
    const char *tc; // the clock used, "10.00+0.10"
    bool chess960;
} ReplayFacts;

// `text`: JSON lines as in API.md, two a pair; one of over GAME_LINE_MAX bytes is refused before it
// is parsed, for a JSON value takes up to a hundred times its text in memory. False: `err` (422
// `replay_mismatch`) names the line and what is wrong with it. rules_init() was called.
bool replay_games(const char *text, size_t size, const ReplayFacts *facts, Error *err);

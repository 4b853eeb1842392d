// Plays the games of a batch over again with the rules, as their worker uploaded them, and compares
// them with its counts: legal moves, results that follow, clocks that can be. Pure, and outside
// bytes: every length is bounded.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

typedef struct ReplayFacts {
    int64_t first_pair;   // number in the test of the batch's first pair
    const char *outcomes; // a digit a pair
    int64_t crashes, time_losses;
    const char *tc; // the clock used, "10.00+0.10"
    bool chess960;
} ReplayFacts;

// `text`: JSON lines as in API.md, two a pair. False: `err` (422 `replay_mismatch`) names the line
// and what is wrong with it. rules_init() was called.
bool replay_games(const char *text, size_t size, const ReplayFacts *facts, Error *err);

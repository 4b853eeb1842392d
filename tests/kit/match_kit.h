// What the tests of the match runner share: two engines that are toy engines (tests/kit/toy.h), and
// a match between them with limits of time that no busy machine reaches.
#pragma once

#include <stdbool.h>

#include "worker/match/match.h"

// The toy engine of this build.
extern char kit_toy[512];
// A and B, each with ten minutes a game; a test may change them.
extern EngineSpec kit_engines[2];

// Finds the toy engine. If it is not built, prints TAP's "Bail out!" and returns false.
bool kit_toy_found(void);

// MatchSpec.opening of a match in which every game begins with 1. e4 e5.
Opening kit_opening(void *ctx, int pair);

// One pair, A (`argv`, NULL: one that behaves) against a B that behaves, five moves each, in one
// slot. `argv` must outlive the match. Fills kit_engines.
MatchSpec kit_match(const char *const *argv);

// Plays the match. If it cannot be played, the test fails with the reason.
void kit_play_match(const MatchSpec *spec);

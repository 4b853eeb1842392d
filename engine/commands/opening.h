// Random openings: a start position and some random moves. The same state of the random numbers
// gives the same opening.
#pragma once

#include "rules/position.h"

// The start position of chess, or a random start position of Chess960.
void opening_start(uint64_t *random, bool chess960, Position *pos);

// Plays `plies` random legal moves or one more, so that either side may be to move. False if the
// game ends on the way, or if the position cannot be used as a start: no legal move, or a check.
bool opening_walk(uint64_t *random, int plies, Position *pos) __attribute__((warn_unused_result));

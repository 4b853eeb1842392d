// How made-up games begin: a start position and some random moves. The same state of the random
// numbers gives the same opening.
#pragma once

#include "rules/position.h"

// The position of all games, or one of Chess960's, drawn at random.
void opening_start(uint64_t *random, bool chess960, Position *pos);

// Plays `plies` random legal moves or one more, so that either side may be to move. False when the
// game ends on the way, or when nobody would begin there: no legal move, or in check.
bool opening_walk(uint64_t *random, int plies, Position *pos) __attribute__((warn_unused_result));

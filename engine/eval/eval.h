// The classical evaluation: what a position is worth without search, by hand-written terms, in
// integers. Two values are kept of every term, for the middlegame and the endgame, and mixed by the
// material left ("tapered evaluation").
#pragma once

#include "base/score.h"
#include "eval/pawn_cache.h"
#include "rules/position.h"

// Fills the tables; once, before anything else here.
void eval_init(void);
// Centipawns for the side to move. Depends on nothing but the position; `cache` only saves time.
Score evaluate(const Position *pos, PawnCache *cache);

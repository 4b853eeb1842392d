// The classical evaluation: the worth of a position without a search, as a sum of hand-written
// terms in integers. Each term has two values, one for the middlegame and one for the endgame. They
// are mixed by the material that is left ("tapered evaluation").
#pragma once

#include "base/score.h"
#include "eval/pawn_cache.h"
#include "rules/position.h"

// Fills the tables. Call it once, before the other functions of this folder.
void eval_init(void);
// Centipawns for the side to move. Depends only on the position; `cache` only saves time.
Score evaluate(const Position *pos, PawnCache *cache);

// The classical evaluation: a static score of a position, as a sum of hand-written terms in
// integers. Each term has two values, one for the middlegame and one for the endgame. The material
// on the board decides how they are mixed ("tapered evaluation").
#pragma once

#include "base/score.h"
#include "eval/pawn_cache.h"
#include "rules/position.h"

// Fills the tables. Call it once, before the other functions of this folder.
void eval_init(void);
// Centipawns for the side to move. Depends only on the position; `cache` only saves time.
Score evaluate(const Position *pos, PawnCache *cache);

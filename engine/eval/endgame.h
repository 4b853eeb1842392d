// Rules for endgames, in addition to the sum of terms. They use no values of values.h.
#pragma once

#include "base/score.h"
#include "eval/pawn_cache.h"
#include "rules/position.h"

// Call it once, before the other functions of this file.
void endgame_init(void);

// True if the endgame is known, by its material, to be drawn or won. Then `*score` is its score for
// the side to move, which leads the winner towards the mate. Call it only if one side has a bare
// king.
bool endgame_is_known(const Position *pos, Score *score);

static inline bool endgame_has_bare_king(const Position *pos) {
    return !bitboard_many(pos->by_color[WHITE]) || !bitboard_many(pos->by_color[BLACK]);
}

// The part of an endgame advantage of `strong` that counts in this position, in 64ths.
int endgame_scale(const Position *pos, const PawnEntry *pawns, Color strong);

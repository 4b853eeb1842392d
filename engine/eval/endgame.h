// What is known about endgames in addition to the sum of terms. These are facts about the position;
// they use no values of values.h.
#pragma once

#include "base/score.h"
#include "eval/pawn_cache.h"
#include "rules/position.h"

// Once, before anything else here.
void endgame_init(void);

// Whether the endgame is one that is known, by its material, to be drawn or won; then `*score` is
// what it is worth to the side to move, and leads the winner towards the mate. Asked only where one
// side has nothing but its king.
bool endgame_is_known(const Position *pos, Score *score);

static inline bool endgame_has_bare_king(const Position *pos) {
    return !bitboard_many(pos->by_color[WHITE]) || !bitboard_many(pos->by_color[BLACK]);
}

// How much of an endgame advantage of `strong` the position lets one hope to win, in 64ths.
int endgame_scale(const Position *pos, const PawnEntry *pawns, Color strong);

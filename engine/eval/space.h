// Space: squares behind our own pawns on which pieces can regroup. It counts more when there are
// more pieces (chessprogramming wiki, Space). A part of the evaluation's template (terms.h).
#pragma once

#include "eval/terms.h"

// Squares of files c to f on the second to fourth rank that hold no own pawn and no enemy pawn
// attacks; those behind an own pawn that nothing attacks count twice.
EVAL_INLINE int space_squares(const EvalFacts *facts, Color us) {
    const Bitboard files = UINT64_C(0x3c3c3c3c3c3c3c3c);
    const Bitboard ranks = us == WHITE ? UINT64_C(0xffffff00) : UINT64_C(0xffffff00000000);
    Color them = color_flip(us);
    Bitboard pawns = position_pieces(facts->pos, us, PAWN);
    Bitboard safe = files & ranks & ~pawns & ~facts->attacks[them][PAWN];
    Bitboard behind = pawns_front(them, pawns) & safe & ~facts->all[them];
    return bitboard_count(safe) + bitboard_count(behind);
}

EVAL_INLINE Pair eval_space(const EvalFacts *facts, Color us) {
    const Position *pos = facts->pos;
    int pieces = bitboard_count(pos->by_color[us] & ~(pos->by_type[PAWN] | pos->by_type[KING]));
    pieces = pieces < 7 ? pieces : 7;
    if (pieces < 4) // with few pieces, space has no value
        return 0;
    return term(facts->trace, us, &EVAL.space[pieces], space_squares(facts, us));
}

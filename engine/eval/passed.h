// Passed pawns and the pieces around them: whether the pawn can advance, what blocks it, which king
// is nearer. A part of the evaluation's template (terms.h).
#pragma once

#include "eval/terms.h"

// The squares ahead of the pawn: the next one, and all of them up to promotion.
EVAL_INLINE Pair eval_passed_way(const EvalFacts *facts, Color us, Square s) {
    Color them = color_flip(us);
    EvalTrace *trace = facts->trace;
    int rank = square_rank(square_relative(us, s));
    Bitboard stop = forward(us, square_bb(s)), path = pawns_front(us, square_bb(s));
    if (stop & facts->pos->by_color[them])
        return term(trace, us, &EVAL.passed_blockaded[rank], 1);
    Pair score = 0;
    if (!(path & (facts->occupied | facts->all[them])))
        score += term(trace, us, &EVAL.passed_free_path[rank], 1);
    if (stop & facts->occupied)
        return score;
    score += term(trace, us, &EVAL.passed_free_stop[rank], 1);
    if (!(stop & facts->all[them]))
        score += term(trace, us, &EVAL.passed_safe_stop[rank], 1);
    if (stop & facts->all[us])
        score += term(trace, us, &EVAL.passed_guarded_stop[rank], 1);
    return score;
}

// Distances above five squares count as five.
EVAL_INLINE int king_way(const EvalFacts *facts, Color whose, Square to) {
    int far = distance(position_king(facts->pos, whose), to);
    return far < 5 ? far : 5;
}

// The distances of both kings from the square in front of the pawn.
EVAL_INLINE Pair eval_passed_kings(const EvalFacts *facts, Color us, Square s) {
    int rank = square_rank(square_relative(us, s));
    Square ahead = bitboard_first(forward(us, square_bb(s)));
    int own = king_way(facts, us, ahead), theirs = king_way(facts, color_flip(us), ahead);
    return term(facts->trace, us, &EVAL.passed_own_king[rank], own) +
           term(facts->trace, us, &EVAL.passed_their_king[rank], theirs);
}

// True if an enemy rook or queen attacks the pawn from behind.
EVAL_INLINE bool pawn_is_hunted(const EvalFacts *facts, Color us, Square s) {
    const Position *pos = facts->pos;
    Bitboard heavy = (pos->by_type[ROOK] | pos->by_type[QUEEN]) & pos->by_color[color_flip(us)];
    Bitboard behind = pawns_front(color_flip(us), square_bb(s)) & heavy;
    return behind && behind & attacks_rook(s, facts->occupied);
}

// True if the enemy has only king and pawns, the way is free, and the enemy king comes too late
// ("rule of the square").
EVAL_INLINE bool pawn_is_unstoppable(const EvalFacts *facts, Color us, Square s) {
    const Position *pos = facts->pos;
    Color them = color_flip(us);
    Bitboard officers = pos->by_color[them] & ~(pos->by_type[PAWN] | pos->by_type[KING]);
    if (officers || pawns_front(us, square_bb(s)) & facts->occupied)
        return false;
    Square goal = square_relative(us, square_make(square_file(s), 7));
    int steps = 7 - square_rank(square_relative(us, s));
    steps -= steps == 6; // a pawn on its first square moves two squares at once
    return distance(position_king(pos, them), goal) - (pos->side == them) > steps;
}

EVAL_INLINE Pair eval_passed_pawn(const EvalFacts *facts, Color us, Square s) {
    EvalTrace *trace = facts->trace;
    int file = square_file(s) < 4 ? square_file(s) : 7 - square_file(s);
    Pair score = eval_passed_way(facts, us, s) + eval_passed_kings(facts, us, s) +
                 term(trace, us, &EVAL.passed_file[file], 1);
    if (pawn_is_hunted(facts, us, s))
        score += term(trace, us, &EVAL.passed_hunted, 1);
    return score;
}

EVAL_INLINE Pair eval_passed(const EvalFacts *facts, Color us) {
    Pair score = 0;
    bool unstoppable = false;
    for (Bitboard b = facts->pawns->passed[us]; b;) {
        Square s = bitboard_pop(&b);
        score += eval_passed_pawn(facts, us, s);
        unstoppable |= pawn_is_unstoppable(facts, us, s);
    }
    if (unstoppable)
        score += term(facts->trace, us, &EVAL.passed_unstoppable, 1);
    return score;
}

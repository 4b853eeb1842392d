// Passed pawns among the pieces: whether they can go on, and which king is nearer. Part of the
// evaluation's template (eval_terms.h).
#pragma once

#include "eval_terms.h"

// Moves of a king from one square to the other.
EVAL_INLINE int distance(Square a, Square b) {
    int files = square_file(a) - square_file(b), ranks = square_rank(a) - square_rank(b);
    files = files < 0 ? -files : files;
    ranks = ranks < 0 ? -ranks : ranks;
    return files > ranks ? files : ranks;
}

EVAL_INLINE Pair eval_passed_pawn(const EvalFacts *facts, Color us, Square s) {
    Color them = color_flip(us);
    int rank = square_rank(square_relative(us, s));
    Bitboard stop = forward(us, square_bb(s)), path = pawns_front(us, square_bb(s));
    Pair score = 0;
    if (!(stop & facts->occupied))
        score += term(facts->trace, us, &EVAL.passed_free_stop[rank], 1);
    if (!(path & (facts->occupied | facts->all[them])))
        score += term(facts->trace, us, &EVAL.passed_free_path[rank], 1);
    Square ahead = bitboard_first(stop);
    int nearer = distance(position_king(facts->pos, them), ahead) -
                 distance(position_king(facts->pos, us), ahead);
    return score + term(facts->trace, us, &EVAL.passed_king_distance[rank], nearer);
}

EVAL_INLINE Pair eval_passed(const EvalFacts *facts, Color us) {
    Pair score = 0;
    for (Bitboard b = facts->pawns->passed[us]; b;)
        score += eval_passed_pawn(facts, us, bitboard_pop(&b));
    return score;
}

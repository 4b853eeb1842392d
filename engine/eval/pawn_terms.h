// Pawn structure: doubled, isolated, backward, connected, passed and candidate pawns. The terms of
// passed pawns that depend on pieces and kings are in passed.h. A part of the evaluation's template
// (terms.h), expanded by pawn_cache.c.
#pragma once

#include "eval/terms.h"

EVAL_INLINE Bitboard neighbour_files(Square s) {
    Bitboard file = bitboard_file(square_file(s));
    return (file & ~bitboard_file(0)) >> 1 | (file & ~bitboard_file(7)) << 1;
}

// A pawn is backward if no own pawn stands beside or behind it on the neighbouring files, and enemy
// pawns attack the square in front of it.
EVAL_INLINE bool pawn_is_backward(Square s, Color us, Bitboard neighbours, Bitboard theirs) {
    Bitboard not_ahead = ~pawns_front(us, bitboard_rank(square_rank(s)));
    return !(neighbours & not_ahead) &&
           pawns_attacks(color_flip(us), theirs) & forward(us, square_bb(s));
}

EVAL_INLINE Pair eval_pawn_weakness(Square s, Color us, Bitboard ours, Bitboard theirs,
                                    EvalTrace *trace) {
    Bitboard neighbours = ours & neighbour_files(s), front = pawns_front(us, square_bb(s));
    bool supported = attacks_pawn(color_flip(us), s) & ours;
    Pair score = 0;
    if (front & ours) {
        score += term(trace, us, &EVAL.doubled, 1);
        if (!supported)
            score += term(trace, us, &EVAL.doubled_unsupported, 1);
    }
    if (!supported && bitboard_many(attacks_pawn(us, s) & theirs))
        score += term(trace, us, &EVAL.weak_lever, 1);
    if (!neighbours)
        score += term(trace, us, &EVAL.isolated, 1);
    else if (pawn_is_backward(s, us, neighbours, theirs))
        score += term(trace, us, &EVAL.backward, 1);
    else
        return score;
    if (!(front & theirs))
        score += term(trace, us, &EVAL.open_weakness, 1);
    return score;
}

// Pawns beside it (a phalanx) and pawns that guard it.
EVAL_INLINE Pair eval_pawn_connection(Square s, Color us, Bitboard ours, EvalTrace *trace) {
    int rank = square_rank(square_relative(us, s));
    Bitboard phalanx = ours & neighbour_files(s) & bitboard_rank(square_rank(s));
    Bitboard support = ours & attacks_pawn(color_flip(us), s);
    Pair score = 0;
    if (phalanx | support)
        score += term(trace, us, &EVAL.connected[rank], 1);
    if (phalanx)
        score += term(trace, us, &EVAL.phalanx[rank], 1);
    return score + term(trace, us, &EVAL.pawn_support[rank], bitboard_count(support));
}

// No enemy pawn ahead on its own or a neighbouring file, and no pawn of ours in front of it.
EVAL_INLINE bool pawn_is_passed(Square s, Color us, Bitboard ours, Bitboard theirs) {
    Bitboard ahead = pawns_front(us, square_bb(s));
    Bitboard flanks =
        pawns_front(us, square_bb(s) | (neighbour_files(s) & bitboard_rank(square_rank(s))));
    return !(flanks & theirs) && !(ahead & ours);
}

// No pawn ahead on its file, and as many own pawns to help as enemy ones to stop it
// (chessprogramming wiki, Candidate Passed Pawn). Only for pawns that are not passed.
EVAL_INLINE bool pawn_is_candidate(Square s, Color us, Bitboard ours, Bitboard theirs) {
    Bitboard beside = neighbour_files(s) & bitboard_rank(square_rank(s));
    Bitboard ahead = pawns_front(us, beside);
    if (pawns_front(us, square_bb(s)) & (ours | theirs))
        return false;
    return bitboard_count(ours & neighbour_files(s) & ~ahead) >= bitboard_count(theirs & ahead);
}

EVAL_INLINE Pair eval_pawns(const Position *pos, Color us, PawnEntry *entry, EvalTrace *trace) {
    Bitboard ours = position_pieces(pos, us, PAWN);
    Bitboard theirs = position_pieces(pos, color_flip(us), PAWN);
    Pair score = 0;
    entry->spans[us] = pawns_attacks(us, ours | pawns_front(us, ours));
    for (Bitboard b = ours; b;) {
        Square s = bitboard_pop(&b);
        int rank = square_rank(square_relative(us, s));
        score += eval_pawn_weakness(s, us, ours, theirs, trace);
        score += eval_pawn_connection(s, us, ours, trace);
        if (pawn_is_passed(s, us, ours, theirs)) {
            score += term(trace, us, &EVAL.passed[rank], 1);
            entry->passed[us] |= square_bb(s);
        } else if (pawn_is_candidate(s, us, ours, theirs)) {
            score += term(trace, us, &EVAL.candidate[rank], 1);
        }
    }
    return score;
}

// Fills the entry with everything that depends on the pawns alone.
static inline void pawns_judge(const Position *pos, PawnEntry *entry, EvalTrace *trace) {
    *entry = (PawnEntry){.key = pos->pawn_key};
    Pair white = eval_pawns(pos, WHITE, entry, trace);
    entry->score = white - eval_pawns(pos, BLACK, entry, trace);
}

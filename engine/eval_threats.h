// Threats: what is attacked and by what. Part of the evaluation's template (eval_terms.h).
#pragma once

#include "eval_terms.h"

// Enemy pieces that pawns could attack by one safe step.
EVAL_INLINE Bitboard pawn_push_targets(const EvalFacts *facts, Color us) {
    Color them = color_flip(us);
    Bitboard steps = forward(us, position_pieces(facts->pos, us, PAWN)) & ~facts->occupied;
    steps &= ~facts->attacks[them][PAWN] & (facts->all[us] | ~facts->all[them]);
    return pawns_attacks(us, steps);
}

EVAL_INLINE Pair eval_threats(const EvalFacts *facts, Color us) {
    const Position *pos = facts->pos;
    EvalTrace *trace = facts->trace;
    Color them = color_flip(us);
    Bitboard pawns = position_pieces(pos, them, PAWN);
    Bitboard pieces = pos->by_color[them] & ~pawns & ~position_pieces(pos, them, KING);
    Bitboard queens = position_pieces(pos, them, QUEEN);
    Bitboard majors = queens | position_pieces(pos, them, ROOK);
    Bitboard minors_attack = facts->attacks[us][KNIGHT] | facts->attacks[us][BISHOP];
    Bitboard hanging = facts->all[us] & ~facts->all[them];
    return term(trace, us, &EVAL.pawn_attacks_piece,
                bitboard_count(pieces & facts->attacks[us][PAWN])) +
           term(trace, us, &EVAL.minor_attacks_major, bitboard_count(majors & minors_attack)) +
           term(trace, us, &EVAL.rook_attacks_queen,
                bitboard_count(queens & facts->attacks[us][ROOK])) +
           term(trace, us, &EVAL.piece_hangs, bitboard_count(pieces & hanging)) +
           term(trace, us, &EVAL.pawn_hangs, bitboard_count(pawns & hanging)) +
           term(trace, us, &EVAL.pawn_push_threat,
                bitboard_count(pieces & pawn_push_targets(facts, us)));
}

// Threats: which pieces are attacked and by which, and which can be attacked by the next move. A
// part of the evaluation's template (terms.h).
#pragma once

#include "eval/terms.h"

// Squares that the colour holds firmly: pawns guard them, or more pieces than attack them.
EVAL_INLINE Bitboard squares_held(const EvalFacts *facts, Color us) {
    return facts->attacks[us][PAWN] | (facts->twice[us] & ~facts->twice[color_flip(us)]);
}

// Enemy pieces and pawns that our pieces attack. One of them may be attacked in several ways.
EVAL_INLINE Pair eval_piece_threats(const EvalFacts *facts, Color us) {
    const Position *pos = facts->pos;
    EvalTrace *trace = facts->trace;
    Color them = color_flip(us);
    Bitboard pawns = position_pieces(pos, them, PAWN);
    Bitboard minors = position_pieces(pos, them, KNIGHT) | position_pieces(pos, them, BISHOP);
    Bitboard queens = position_pieces(pos, them, QUEEN);
    Bitboard majors = queens | position_pieces(pos, them, ROOK);
    Bitboard by_minor = facts->attacks[us][KNIGHT] | facts->attacks[us][BISHOP];
    Bitboard by_rook = facts->attacks[us][ROOK], by_king = facts->attacks[us][KING];
    Bitboard weak = ~squares_held(facts, them);
    return term(trace, us, &EVAL.minor_attacks_major, bitboard_count(majors & by_minor)) +
           term(trace, us, &EVAL.minor_attacks_minor, bitboard_count(minors & by_minor & weak)) +
           term(trace, us, &EVAL.minor_attacks_pawn, bitboard_count(pawns & by_minor & weak)) +
           term(trace, us, &EVAL.rook_attacks_queen, bitboard_count(queens & by_rook)) +
           term(trace, us, &EVAL.rook_attacks_minor, bitboard_count(minors & by_rook & weak)) +
           term(trace, us, &EVAL.rook_attacks_pawn, bitboard_count(pawns & by_rook & weak)) +
           term(trace, us, &EVAL.king_attacks_weak,
                bitboard_count((pawns | minors | majors) & by_king & weak) != 0);
}

// Enemy pieces and pawns that nothing guards.
EVAL_INLINE Pair eval_hanging(const EvalFacts *facts, Color us) {
    const Position *pos = facts->pos;
    Color them = color_flip(us);
    Bitboard hanging = pos->by_color[them] & facts->all[us] & ~facts->all[them];
    Bitboard pawns = hanging & pos->by_type[PAWN], pieces = hanging & ~pos->by_type[PAWN];
    pieces &= ~pos->by_type[KING];
    return term(facts->trace, us, &EVAL.piece_hangs, bitboard_count(pieces)) +
           term(facts->trace, us, &EVAL.pawn_hangs, bitboard_count(pawns));
}

// Enemy pieces that pawns attack, or could attack by one safe step.
EVAL_INLINE Pair eval_pawn_threats(const EvalFacts *facts, Color us) {
    const Position *pos = facts->pos;
    Color them = color_flip(us);
    Bitboard pieces = pos->by_color[them] & ~pos->by_type[PAWN] & ~pos->by_type[KING];
    Bitboard steps = forward(us, position_pieces(pos, us, PAWN)) & ~facts->occupied;
    steps &= ~facts->attacks[them][PAWN] & (facts->all[us] | ~facts->all[them]);
    Bitboard now = pieces & facts->attacks[us][PAWN], next = pieces & pawns_attacks(us, steps);
    return term(facts->trace, us, &EVAL.pawn_attacks_piece, bitboard_count(now)) +
           term(facts->trace, us, &EVAL.pawn_push_threat, bitboard_count(next));
}

// Squares from which our pieces could attack the enemy queen and stay there.
EVAL_INLINE Pair eval_queen_threats(const EvalFacts *facts, Color us) {
    const Position *pos = facts->pos;
    Bitboard queens = position_pieces(pos, color_flip(us), QUEEN);
    if (!queens || bitboard_many(queens))
        return 0;
    Square queen = bitboard_first(queens);
    Bitboard safe =
        facts->mobility_area[us] & ~pos->by_color[us] & ~squares_held(facts, color_flip(us));
    Bitboard knights = attacks_knight(queen) & facts->attacks[us][KNIGHT] & safe;
    Bitboard diagonals = attacks_bishop(queen, facts->occupied) & facts->attacks[us][BISHOP];
    Bitboard lines = attacks_rook(queen, facts->occupied) & facts->attacks[us][ROOK];
    Bitboard sliders = (diagonals | lines) & safe & facts->twice[us];
    return term(facts->trace, us, &EVAL.knight_can_hit_queen, bitboard_count(knights)) +
           term(facts->trace, us, &EVAL.slider_can_hit_queen, bitboard_count(sliders));
}

// A queen of ours with one piece or pawn between it and an enemy rook or bishop.
EVAL_INLINE Pair eval_queen_in_line(const EvalFacts *facts, Color us) {
    const Position *pos = facts->pos;
    Color them = color_flip(us);
    Pair score = 0;
    for (Bitboard b = position_pieces(pos, us, QUEEN); b;) {
        Square s = bitboard_pop(&b);
        Bitboard snipers = (bitboard_tables.rook_rays[s] & position_pieces(pos, them, ROOK)) |
                           (bitboard_tables.bishop_rays[s] & position_pieces(pos, them, BISHOP));
        int lines = 0;
        while (snipers) {
            Bitboard between = squares_between(s, bitboard_pop(&snipers)) & facts->occupied;
            lines += between && !bitboard_many(between);
        }
        score += term(facts->trace, us, &EVAL.queen_in_line, lines);
    }
    return score;
}

// Squares that the enemy attacks but cannot use, since we attack them too.
EVAL_INLINE Pair eval_restricted(const EvalFacts *facts, Color us) {
    Color them = color_flip(us);
    Bitboard squares = facts->all[us] & facts->all[them] & ~squares_held(facts, them);
    return term(facts->trace, us, &EVAL.restricted, bitboard_count(squares));
}

EVAL_INLINE Pair eval_threats(const EvalFacts *facts, Color us) {
    return eval_piece_threats(facts, us) + eval_hanging(facts, us) + eval_pawn_threats(facts, us) +
           eval_queen_threats(facts, us) + eval_queen_in_line(facts, us) +
           eval_restricted(facts, us);
}

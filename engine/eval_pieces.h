// What knights, bishops, rooks and queens are worth by the squares they reach and the pawns about
// them; on the way it gathers what they attack. Part of the evaluation's template (eval_terms.h).
#pragma once

#include "eval_terms.h"

EVAL_INLINE void facts_add_attacks(EvalFacts *facts, Color us, PieceType t, Bitboard attacks) {
    facts->twice[us] |= facts->all[us] & attacks;
    facts->all[us] |= attacks;
    facts->attacks[us][t] |= attacks;
}

// Sliders see through their own queens and rooks, which move along.
EVAL_INLINE Bitboard piece_attacks(const EvalFacts *facts, Color us, PieceType t, Square s) {
    const Position *pos = facts->pos;
    switch (t) {
    case KNIGHT:
        return attacks_knight(s);
    case BISHOP:
        return attacks_bishop(s, facts->occupied ^ position_pieces(pos, us, QUEEN));
    case ROOK:
        return attacks_rook(s, facts->occupied ^ position_pieces(pos, us, QUEEN) ^
                                   position_pieces(pos, us, ROOK));
    default:
        return attacks_queen(s, facts->occupied);
    }
}

EVAL_INLINE void facts_add_king_pressure(EvalFacts *facts, Color us, PieceType t,
                                         Bitboard attacks) {
    Bitboard hits = attacks & facts->king_zone[color_flip(us)];
    if (!hits)
        return;
    facts->king_attackers[us][t - KNIGHT]++;
    facts->king_hits[us] += bitboard_count(hits);
}

EVAL_INLINE Pair eval_mobility(const EvalFacts *facts, Color us, PieceType t, Bitboard attacks) {
    static const Pair *const values[4] = {EVAL.knight_mobility, EVAL.bishop_mobility,
                                          EVAL.rook_mobility, EVAL.queen_mobility};
    int squares = bitboard_count(attacks & facts->mobility_area[us]);
    return term(facts->trace, us, &values[t - KNIGHT][squares], 1);
}

// A square ahead that no enemy pawn can ever attack and an own pawn guards.
EVAL_INLINE bool square_is_outpost(const EvalFacts *facts, Color us, Square s) {
    int rank = square_rank(square_relative(us, s));
    return rank >= 3 && rank <= 5 && !(facts->pawns->spans[color_flip(us)] & square_bb(s)) &&
           facts->attacks[us][PAWN] & square_bb(s);
}

EVAL_INLINE Bitboard squares_of_colour(Square s) {
    const Bitboard dark = UINT64_C(0xaa55aa55aa55aa55);
    return dark & square_bb(s) ? dark : ~dark;
}

EVAL_INLINE Pair eval_minor(const EvalFacts *facts, Color us, PieceType t, Square s) {
    const Position *pos = facts->pos;
    Pair score = 0;
    if (square_is_outpost(facts, us, s))
        score +=
            term(facts->trace, us, t == KNIGHT ? &EVAL.knight_outpost : &EVAL.bishop_outpost, 1);
    if (forward(us, square_bb(s)) & pos->by_type[PAWN])
        score += term(facts->trace, us, &EVAL.minor_behind_pawn, 1);
    return score;
}

// Pawns on its own colour stand in a bishop's way.
EVAL_INLINE Pair eval_bishop(const EvalFacts *facts, Color us, Square s) {
    Bitboard pawns = position_pieces(facts->pos, us, PAWN) & squares_of_colour(s);
    return term(facts->trace, us, &EVAL.bishop_bad_pawn, bitboard_count(pawns));
}

EVAL_INLINE Pair eval_rook(const EvalFacts *facts, Color us, Square s) {
    const Position *pos = facts->pos;
    Color them = color_flip(us);
    Bitboard file = bitboard_file(square_file(s));
    Pair score = 0;
    if (!(file & pos->by_type[PAWN]))
        score += term(facts->trace, us, &EVAL.rook_open_file, 1);
    else if (!(file & position_pieces(pos, us, PAWN)))
        score += term(facts->trace, us, &EVAL.rook_half_open_file, 1);
    bool king_is_cut = square_rank(square_relative(us, position_king(pos, them))) >= 6;
    if (square_rank(square_relative(us, s)) == 6 && king_is_cut)
        score += term(facts->trace, us, &EVAL.rook_on_seventh, 1);
    if (pawns_front(us, square_bb(s)) & file &
        (facts->pawns->passed[us] | facts->pawns->passed[them]))
        score += term(facts->trace, us, &EVAL.rook_behind_passed, 1);
    return score;
}

EVAL_INLINE Pair eval_piece(const EvalFacts *facts, Color us, PieceType t, Square s) {
    switch (t) {
    case KNIGHT:
        return eval_minor(facts, us, t, s);
    case BISHOP:
        return eval_minor(facts, us, t, s) + eval_bishop(facts, us, s);
    case ROOK:
        return eval_rook(facts, us, s);
    default:
        return 0;
    }
}

// All pieces of a type. Their place on the board counts in `*squares`, in White's view.
EVAL_INLINE Pair eval_pieces_of_type(EvalFacts *facts, Color us, PieceType t, Pair *squares) {
    Pair score = 0;
    for (Bitboard b = position_pieces(facts->pos, us, t); b;) {
        Square s = bitboard_pop(&b);
        Bitboard attacks = piece_attacks(facts, us, t, s);
        facts_add_attacks(facts, us, t, attacks);
        facts_add_king_pressure(facts, us, t, attacks);
        *squares += piece_on_square(facts->trace, us, t, s);
        score += eval_mobility(facts, us, t, attacks) + eval_piece(facts, us, t, s);
    }
    return score;
}

EVAL_INLINE Pair eval_pieces(EvalFacts *facts, Color us, Pair *squares) {
    Pair score = eval_pieces_of_type(facts, us, KNIGHT, squares) +
                 eval_pieces_of_type(facts, us, BISHOP, squares) +
                 eval_pieces_of_type(facts, us, ROOK, squares) +
                 eval_pieces_of_type(facts, us, QUEEN, squares);
    if (bitboard_many(position_pieces(facts->pos, us, BISHOP)))
        score += term(facts->trace, us, &EVAL.bishop_pair, 1);
    return score;
}

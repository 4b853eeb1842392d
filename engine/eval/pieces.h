// Knights, bishops, rooks and queens: the squares that they reach and the pawns around them. These
// functions also collect the attacked squares for the later terms. A part of the evaluation's
// template (terms.h).
#pragma once

#include "eval/terms.h"

EVAL_INLINE void facts_add_attacks(EvalFacts *facts, Color us, PieceType t, Bitboard attacks) {
    facts->twice[us] |= facts->all[us] & attacks;
    facts->all[us] |= attacks;
    facts->attacks[us][t] |= attacks;
}

// Sliders attack through queens and rooks of their own colour that move along the same line.
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

// Squares ahead that no enemy pawn can ever attack and that one of our pawns guards.
EVAL_INLINE Bitboard outposts(const EvalFacts *facts, Color us) {
    const Bitboard ranks = us == WHITE ? UINT64_C(0xffffff000000) : UINT64_C(0xffffff0000);
    return ranks & ~facts->pawns->spans[color_flip(us)] & facts->attacks[us][PAWN];
}

EVAL_INLINE Bitboard squares_of_colour(Square s) {
    const Bitboard dark = UINT64_C(0xaa55aa55aa55aa55);
    return dark & square_bb(s) ? dark : ~dark;
}

EVAL_INLINE Pair eval_minor(const EvalFacts *facts, Color us, PieceType t, Square s) {
    const Position *pos = facts->pos;
    int to_king = distance(s, position_king(pos, us));
    Pair score = term(facts->trace, us, &EVAL.minor_king_distance[t - KNIGHT], to_king);
    if (outposts(facts, us) & square_bb(s))
        score +=
            term(facts->trace, us, t == KNIGHT ? &EVAL.knight_outpost : &EVAL.bishop_outpost, 1);
    else if (t == KNIGHT && outposts(facts, us) & attacks_knight(s) & ~pos->by_color[us])
        score += term(facts->trace, us, &EVAL.knight_reaches_outpost, 1);
    if (forward(us, square_bb(s)) & pos->by_type[PAWN])
        score += term(facts->trace, us, &EVAL.minor_behind_pawn, 1);
    return score;
}

// Own pawns on the bishop's colour limit the bishop, more so if own pawns on the central files are
// blocked.
EVAL_INLINE Pair eval_bishop_pawns(const EvalFacts *facts, Color us, Square s) {
    const Bitboard centre_files = UINT64_C(0x3c3c3c3c3c3c3c3c);
    const Position *pos = facts->pos;
    EvalTrace *trace = facts->trace;
    Color them = color_flip(us);
    Bitboard ours = position_pieces(pos, us, PAWN), theirs = position_pieces(pos, them, PAWN);
    int same = bitboard_count(ours & squares_of_colour(s));
    int fixed = bitboard_count(ours & forward(them, facts->occupied) & centre_files);
    int in_sight = bitboard_count(theirs & bitboard_tables.bishop_rays[s]);
    return term(trace, us, &EVAL.bishop_bad_pawn, same) +
           term(trace, us, &EVAL.bishop_shut_in, same * fixed) +
           term(trace, us, &EVAL.bishop_xray_pawn, in_sight);
}

// True if the bishop would attack both central squares of its diagonal on a board with only the
// pawns.
EVAL_INLINE bool bishop_on_long_diagonal(const EvalFacts *facts, Square s) {
    const Bitboard centre = UINT64_C(0x1818000000);
    return bitboard_many(centre & (attacks_bishop(s, facts->pos->by_type[PAWN]) | square_bb(s)));
}

EVAL_INLINE Pair eval_bishop(const EvalFacts *facts, Color us, Square s) {
    Pair score = eval_bishop_pawns(facts, us, s);
    if (bishop_on_long_diagonal(facts, s))
        score += term(facts->trace, us, &EVAL.bishop_long_diagonal, 1);
    return score;
}

// True if the rook has few moves and its own king, on a wing, stands between the rook and the
// centre.
EVAL_INLINE bool rook_is_trapped(const EvalFacts *facts, Color us, Square s, Bitboard attacks) {
    if (bitboard_count(attacks & facts->mobility_area[us]) > 3)
        return false;
    int king = square_file(position_king(facts->pos, us)), rook = square_file(s);
    return king < 3 ? rook < king : king > 4 && rook > king;
}

EVAL_INLINE Pair eval_rook(const EvalFacts *facts, Color us, Square s, Bitboard attacks) {
    const Position *pos = facts->pos;
    Color them = color_flip(us);
    Bitboard file = bitboard_file(square_file(s));
    Pair score = 0;
    if (!(file & pos->by_type[PAWN]))
        score += term(facts->trace, us, &EVAL.rook_open_file, 1);
    else if (!(file & position_pieces(pos, us, PAWN)))
        score += term(facts->trace, us, &EVAL.rook_half_open_file, 1);
    else if (rook_is_trapped(facts, us, s, attacks))
        score += term(facts->trace, us, &EVAL.rook_trapped, 1);
    if (file & pos->by_type[QUEEN])
        score += term(facts->trace, us, &EVAL.rook_on_queen_file, 1);
    bool king_is_cut = square_rank(square_relative(us, position_king(pos, them))) >= 6;
    if (square_rank(square_relative(us, s)) == 6 && king_is_cut)
        score += term(facts->trace, us, &EVAL.rook_on_seventh, 1);
    if (pawns_front(us, square_bb(s)) & file &
        (facts->pawns->passed[us] | facts->pawns->passed[them]))
        score += term(facts->trace, us, &EVAL.rook_behind_passed, 1);
    return score;
}

// A queen in the enemy's half of the board that no pawn can ever attack.
EVAL_INLINE Pair eval_queen(const EvalFacts *facts, Color us, Square s) {
    bool inside = square_rank(square_relative(us, s)) >= 4 &&
                  !(facts->pawns->spans[color_flip(us)] & square_bb(s));
    return inside ? term(facts->trace, us, &EVAL.queen_infiltrates, 1) : 0;
}

EVAL_INLINE Pair eval_piece(const EvalFacts *facts, Color us, PieceType t, Square s,
                            Bitboard attacks) {
    switch (t) {
    case KNIGHT:
        return eval_minor(facts, us, t, s);
    case BISHOP:
        return eval_minor(facts, us, t, s) + eval_bishop(facts, us, s);
    case ROOK:
        return eval_rook(facts, us, s, attacks);
    default:
        return eval_queen(facts, us, s);
    }
}

// All pieces of a type. Adds their piece-square values to `*squares`, in White's view.
EVAL_INLINE Pair eval_pieces_of_type(EvalFacts *facts, Color us, PieceType t, Pair *squares) {
    Pair score = 0;
    for (Bitboard b = position_pieces(facts->pos, us, t); b;) {
        Square s = bitboard_pop(&b);
        Bitboard attacks = piece_attacks(facts, us, t, s);
        facts_add_attacks(facts, us, t, attacks);
        facts_add_king_pressure(facts, us, t, attacks);
        *squares += piece_on_square(facts->trace, us, t, s);
        score += eval_mobility(facts, us, t, attacks) + eval_piece(facts, us, t, s, attacks);
    }
    return score;
}

// Imbalance: knights are worth more with many pawns, rooks with few (L. Kaufman, "The
// Evaluation of Material Imbalances", 1999).
EVAL_INLINE Pair eval_imbalance(const EvalFacts *facts, Color us) {
    const Position *pos = facts->pos;
    EvalTrace *trace = facts->trace;
    int pawns = bitboard_count(position_pieces(pos, us, PAWN)) - 5; // five are usual
    int knights = bitboard_count(position_pieces(pos, us, KNIGHT));
    int rooks = bitboard_count(position_pieces(pos, us, ROOK));
    Pair score = term(trace, us, &EVAL.knight_for_pawn, knights * pawns) +
                 term(trace, us, &EVAL.rook_for_pawn, rooks * pawns);
    if (bitboard_many(position_pieces(pos, us, BISHOP)))
        score += term(trace, us, &EVAL.bishop_pair, 1);
    if (rooks > 1)
        score += term(trace, us, &EVAL.rook_pair, 1);
    return score;
}

EVAL_INLINE Pair eval_pieces(EvalFacts *facts, Color us, Pair *squares) {
    return eval_pieces_of_type(facts, us, KNIGHT, squares) +
           eval_pieces_of_type(facts, us, BISHOP, squares) +
           eval_pieces_of_type(facts, us, ROOK, squares) +
           eval_pieces_of_type(facts, us, QUEEN, squares) + eval_imbalance(facts, us);
}

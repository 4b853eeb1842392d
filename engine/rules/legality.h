// Questions about attacks, shared by move generation, making moves and FEN. Internal to the rules.
// The functions take colours as arguments and are inlined, so that the compiler makes a copy for
// each colour.
#pragma once

#include "rules/bitboard.h"
#include "rules/board.h"

#define RULES_INLINE static inline __attribute__((always_inline))

// The pieces that move like a rook, and those that move like a bishop.
RULES_INLINE Bitboard rooks_and_queens(const Position *pos) {
    return pos->by_type[ROOK] | pos->by_type[QUEEN];
}
RULES_INLINE Bitboard bishops_and_queens(const Position *pos) {
    return pos->by_type[BISHOP] | pos->by_type[QUEEN];
}

// Sliders of `by` that attack `s`. In most positions the rays on the empty board already show that
// there are none.
RULES_INLINE Bitboard slider_attackers(const Position *pos, Color by, Square s, Bitboard occupied) {
    Bitboard rooks = rooks_and_queens(pos) & pos->by_color[by] & bitboard_tables.rook_rays[s];
    Bitboard bishops = bishops_and_queens(pos) & pos->by_color[by] & bitboard_tables.bishop_rays[s];
    if (rooks)
        rooks &= attacks_rook(s, occupied);
    if (bishops)
        bishops &= attacks_bishop(s, occupied);
    return rooks | bishops;
}

// Pawns, knights and king of `by` that attack `s`.
RULES_INLINE Bitboard leaper_attackers(const Position *pos, Color by, Square s) {
    return ((attacks_pawn(color_flip(by), s) & pos->by_type[PAWN]) |
            (attacks_knight(s) & pos->by_type[KNIGHT]) | (attacks_king(s) & pos->by_type[KING])) &
           pos->by_color[by];
}

RULES_INLINE Bitboard attackers_of(const Position *pos, Color by, Square s, Bitboard occupied) {
    return leaper_attackers(pos, by, s) | slider_attackers(pos, by, s, occupied);
}

// Pieces of `us` that alone stand between their king and a slider.
RULES_INLINE Bitboard pinned_pieces(const Position *pos, Color us) {
    Square king = position_king(pos, us);
    Bitboard ours = pos->by_color[us], theirs = pos->by_color[color_flip(us)], pinned = 0;
    Bitboard snipers = ((rooks_and_queens(pos) & bitboard_tables.rook_rays[king]) |
                        (bishops_and_queens(pos) & bitboard_tables.bishop_rays[king])) &
                       theirs;
    while (snipers) {
        Bitboard blockers = squares_between(king, bitboard_pop(&snipers)) & (ours | theirs);
        if (!bitboard_many(blockers))
            pinned |= blockers & ours;
    }
    return pinned;
}

// The squares on which king and rook of `us` stand after castling.
RULES_INLINE Square castling_king_to(Color us, CastlingSide side) {
    return square_relative(us, side == KING_SIDE ? G1 : C1);
}
RULES_INLINE Square castling_rook_to(Color us, CastlingSide side) {
    return square_relative(us, side == KING_SIDE ? F1 : D1);
}
// The side to which a castling move goes.
RULES_INLINE CastlingSide castling_side(Move move) {
    return move_to(move) > move_from(move) ? KING_SIDE : QUEEN_SIDE;
}

// The square of the pawn that an en passant capture on `target` takes.
RULES_INLINE Square en_passant_victim(Square target) {
    return target ^ 8;
}

// Whether the pawn of `us` on `from` may take en passant on `target` and leave its king safe.
RULES_INLINE bool en_passant_is_safe(const Position *pos, Color us, Square from, Square target) {
    Bitboard victim = square_bb(en_passant_victim(target));
    Bitboard occupied = (position_occupied(pos) ^ square_bb(from) ^ victim) | square_bb(target);
    Square king = position_king(pos, us);
    return !(attackers_of(pos, color_flip(us), king, occupied) & ~victim);
}

// Whether `us` has any legal en passant capture on `target`.
RULES_INLINE bool en_passant_is_possible(const Position *pos, Color us, Square target) {
    Bitboard pawns = attacks_pawn(color_flip(us), target) & position_pieces(pos, us, PAWN);
    while (pawns)
        if (en_passant_is_safe(pos, us, bitboard_pop(&pawns), target))
            return true;
    return false;
}

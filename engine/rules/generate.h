// The move generator, as an inline template over the colour and the kind of list. movegen.c and
// perft.c expand the variants that they need. Only legal moves are emitted: pins and checks are
// masks that are computed first, and only en passant captures and castling need a test of their
// own.
#pragma once

#include "rules/legality.h"

typedef enum { GENERATE_ALL, GENERATE_CAPTURES, GENERATE_QUIETS, GENERATE_COUNT } Generate;

// The place for generated moves: a list or, with GENERATE_COUNT, only a number.
typedef struct Sink {
    Move *next;
    int count;
} Sink;

// Sets of squares that all moves of the position depend on.
typedef struct MoveMasks {
    Bitboard ours, theirs, occupied;
    Bitboard pinned;
    Bitboard allowed; // targets that end a check (all without a check), except our own pieces
    Square king;
} MoveMasks;

RULES_INLINE void emit(Sink *sink, Generate kind, Move move) {
    if (kind == GENERATE_COUNT)
        sink->count++;
    else
        *sink->next++ = move;
}

RULES_INLINE void emit_targets(Sink *sink, Generate kind, Square from, Bitboard targets) {
    if (kind == GENERATE_COUNT) {
        sink->count += bitboard_count(targets);
        return;
    }
    while (targets)
        *sink->next++ = move_make(from, bitboard_pop(&targets));
}

// Emits pawn moves to `targets`. All pawns move by the same `delta`.
RULES_INLINE void emit_pawns(Sink *sink, Generate kind, Bitboard targets, int delta) {
    if (kind == GENERATE_COUNT) {
        sink->count += bitboard_count(targets);
        return;
    }
    while (targets) {
        Square to = bitboard_pop(&targets);
        *sink->next++ = move_make((Square)(to - delta), to);
    }
}

RULES_INLINE void emit_promotions(Sink *sink, Generate kind, Bitboard targets, int delta,
                                  bool capture) {
    if (kind == GENERATE_COUNT) {
        sink->count += 4 * bitboard_count(targets);
        return;
    }
    bool queen = kind != GENERATE_QUIETS || capture;
    bool others = kind != GENERATE_CAPTURES || capture;
    while (targets) {
        Square to = bitboard_pop(&targets), from = (Square)(to - delta);
        if (queen)
            *sink->next++ = move_make_promotion(from, to, QUEEN);
        for (PieceType t = ROOK; others && t >= KNIGHT; t--)
            *sink->next++ = move_make_promotion(from, to, t);
    }
}

// The set moved by `delta` squares, without the squares that would cross the left or right edge.
RULES_INLINE Bitboard shifted(Bitboard b, int delta) {
    Bitboard moved = delta > 0 ? b << delta : b >> -delta;
    if (delta == 7 || delta == -9)
        return moved & ~bitboard_file(7);
    if (delta == 9 || delta == -7)
        return moved & ~bitboard_file(0);
    return moved;
}

RULES_INLINE void generate_pawn_captures(const MoveMasks *m, Color us, Generate kind, Sink *sink,
                                         Bitboard pawns, Bitboard allowed) {
    Bitboard last = bitboard_rank(us == WHITE ? 7 : 0);
    const int left = us == WHITE ? 7 : -9, right = us == WHITE ? 9 : -7;
    Bitboard to_left = shifted(pawns, left) & m->theirs & allowed;
    Bitboard to_right = shifted(pawns, right) & m->theirs & allowed;
    emit_pawns(sink, kind, to_left & ~last, left);
    emit_pawns(sink, kind, to_right & ~last, right);
    if ((to_left | to_right) & last) {
        emit_promotions(sink, kind, to_left & last, left, true);
        emit_promotions(sink, kind, to_right & last, right, true);
    }
}

RULES_INLINE void generate_pawn_pushes(const MoveMasks *m, Color us, Generate kind, Sink *sink,
                                       Bitboard pawns, Bitboard allowed) {
    Bitboard last = bitboard_rank(us == WHITE ? 7 : 0);
    const int up = us == WHITE ? 8 : -8;
    Bitboard one = shifted(pawns, up) & ~m->occupied;
    Bitboard third = bitboard_rank(us == WHITE ? 2 : 5);
    Bitboard two = shifted(one & third, up) & ~m->occupied & allowed;
    one &= allowed;
    if (kind != GENERATE_CAPTURES) {
        emit_pawns(sink, kind, one & ~last, up);
        emit_pawns(sink, kind, two, 2 * up);
    }
    if (one & last)
        emit_promotions(sink, kind, one & last, up, false);
}

RULES_INLINE void generate_en_passant(const Position *pos, Color us, Generate kind, Sink *sink) {
    Square target = pos->en_passant;
    Bitboard pawns = attacks_pawn(color_flip(us), target) & pos->by_color[us] & pos->by_type[PAWN];
    while (pawns) {
        Square from = bitboard_pop(&pawns);
        if (en_passant_is_safe(pos, us, from, target))
            emit(sink, kind, move_make_kind(from, target, MOVE_EN_PASSANT));
    }
}

RULES_INLINE void generate_pawns_of(const MoveMasks *m, Color us, Generate kind, Sink *sink,
                                    Bitboard pawns, Bitboard allowed) {
    if (kind != GENERATE_QUIETS)
        generate_pawn_captures(m, us, kind, sink, pawns, allowed);
    generate_pawn_pushes(m, us, kind, sink, pawns, allowed);
}

RULES_INLINE void generate_pawns(const Position *pos, const MoveMasks *m, Color us, Generate kind,
                                 Sink *sink) {
    Bitboard pawns = m->ours & pos->by_type[PAWN], pinned = pawns & m->pinned;
    generate_pawns_of(m, us, kind, sink, pawns & ~pinned, m->allowed);
    while (pinned) {
        Square from = bitboard_pop(&pinned);
        generate_pawns_of(m, us, kind, sink, square_bb(from),
                          m->allowed & squares_line(m->king, from));
    }
    if (kind != GENERATE_QUIETS && pos->en_passant != SQUARE_NONE)
        generate_en_passant(pos, us, kind, sink);
}

// The targets of a piece other than a pawn that belong in a list of this kind.
RULES_INLINE Bitboard kind_targets(const MoveMasks *m, Generate kind) {
    return kind == GENERATE_CAPTURES ? m->theirs
           : kind == GENERATE_QUIETS ? ~m->occupied
                                     : ~m->ours;
}

RULES_INLINE void generate_pieces(const Position *pos, const MoveMasks *m, Generate kind,
                                  Sink *sink) {
    Bitboard allowed = m->allowed & kind_targets(m, kind);
    Bitboard knights = m->ours & pos->by_type[KNIGHT] & ~m->pinned;
    Bitboard rooks = m->ours & rooks_and_queens(pos);
    Bitboard bishops = m->ours & bishops_and_queens(pos);
    Bitboard pinned = (rooks | bishops) & m->pinned;
    rooks &= ~pinned;
    bishops &= ~pinned;
    while (knights) {
        Square from = bitboard_pop(&knights);
        emit_targets(sink, kind, from, attacks_knight(from) & allowed);
    }
    while (bishops) {
        Square from = bitboard_pop(&bishops);
        emit_targets(sink, kind, from, attacks_bishop(from, m->occupied) & allowed);
    }
    while (rooks) {
        Square from = bitboard_pop(&rooks);
        emit_targets(sink, kind, from, attacks_rook(from, m->occupied) & allowed);
    }
    while (pinned) {
        Square from = bitboard_pop(&pinned);
        Bitboard line = squares_line(m->king, from) & allowed;
        if (square_bb(from) & rooks_and_queens(pos))
            emit_targets(sink, kind, from, attacks_rook(from, m->occupied) & line);
        if (square_bb(from) & bishops_and_queens(pos))
            emit_targets(sink, kind, from, attacks_bishop(from, m->occupied) & line);
    }
}

RULES_INLINE void generate_king(const Position *pos, const MoveMasks *m, Color us, Generate kind,
                                Sink *sink) {
    Bitboard targets = attacks_king(m->king) & kind_targets(m, kind);
    Bitboard without_king = m->occupied ^ square_bb(m->king);
    while (targets) {
        Square to = bitboard_pop(&targets);
        if (!attackers_of(pos, color_flip(us), to, without_king))
            emit(sink, kind, move_make(m->king, to));
    }
}

// The squares that king and rook cross must be empty apart from these two, the squares of the king
// must not be attacked, and the rook must not shield the king's target square (only in Chess960 is
// that possible).
RULES_INLINE bool castling_is_legal(const Position *pos, const MoveMasks *m, Color us,
                                    CastlingSide side) {
    if (!(pos->castling & castling_right(us, side)))
        return false;
    Square rook = pos->rook_home[us][side];
    Square king_to = castling_king_to(us, side), rook_to = castling_rook_to(us, side);
    Bitboard king_way = squares_between(m->king, king_to) | square_bb(king_to);
    Bitboard way = king_way | squares_between(rook, rook_to) | square_bb(rook_to);
    Bitboard movers = square_bb(m->king) | square_bb(rook);
    if ((way & m->occupied & ~movers) || (m->pinned & square_bb(rook)))
        return false;
    king_way &= ~square_bb(m->king);
    while (king_way)
        if (attackers_of(pos, color_flip(us), bitboard_pop(&king_way), m->occupied))
            return false;
    return true;
}

RULES_INLINE void generate_castling(const Position *pos, const MoveMasks *m, Color us,
                                    Generate kind, Sink *sink) {
    for (CastlingSide side = KING_SIDE; side <= QUEEN_SIDE; side++)
        if (castling_is_legal(pos, m, us, side))
            emit(sink, kind, move_make_kind(m->king, pos->rook_home[us][side], MOVE_CASTLING));
}

RULES_INLINE MoveMasks masks_of(const Position *pos, Color us) {
    MoveMasks m = {.ours = pos->by_color[us],
                   .theirs = pos->by_color[color_flip(us)],
                   .king = position_king(pos, us)};
    m.occupied = m.ours | m.theirs;
    m.pinned = pinned_pieces(pos, us);
    m.allowed = ~m.ours;
    if (pos->checkers)
        m.allowed &= squares_between(m.king, bitboard_first(pos->checkers)) | pos->checkers;
    return m;
}

RULES_INLINE void generate(const Position *pos, Color us, Generate kind, Sink *sink) {
    MoveMasks m = masks_of(pos, us);
    generate_king(pos, &m, us, kind, sink);
    if (__builtin_expect(bitboard_many(pos->checkers), 0))
        return;
    generate_pawns(pos, &m, us, kind, sink);
    generate_pieces(pos, &m, kind, sink);
    if (kind != GENERATE_CAPTURES && pos->castling && !pos->checkers)
        generate_castling(pos, &m, us, kind, sink);
}

// Lists of legal moves, and questions about single moves.

#include "rules/movegen.h"

#include "rules/generate.h"

RULES_INLINE void fill(const Position *pos, MoveList *list, Generate kind) {
    Sink sink = {.next = &list->moves[0]};
    if (pos->side == WHITE)
        generate(pos, WHITE, kind, &sink);
    else
        generate(pos, BLACK, kind, &sink);
    list->size = (int)(sink.next - list->moves);
}

void movegen_legal(const Position *pos, MoveList *list) {
    fill(pos, list, GENERATE_ALL);
}

void movegen_captures(const Position *pos, MoveList *list) {
    fill(pos, list, GENERATE_CAPTURES);
}

void movegen_quiets(const Position *pos, MoveList *list) {
    fill(pos, list, GENERATE_QUIETS);
}

bool move_is_capture(const Position *pos, Move move) {
    if (move_kind(move) == MOVE_CASTLING)
        return false;
    return move_kind(move) == MOVE_EN_PASSANT || pos->board[move_to(move)] != NO_PIECE;
}

static Bitboard piece_attacks(PieceType type, Color us, Square from, Bitboard occupied) {
    switch (type) {
    case PAWN:
        return attacks_pawn(us, from);
    case KNIGHT:
        return attacks_knight(from);
    case BISHOP:
        return attacks_bishop(from, occupied);
    case ROOK:
        return attacks_rook(from, occupied);
    case QUEEN:
        return attacks_queen(from, occupied);
    default:
        return attacks_king(from);
    }
}

// The targets of a pawn, without promotions and en passant captures.
static Bitboard pawn_targets(const MoveMasks *m, Color us, Square from) {
    int up = us == WHITE ? 8 : -8;
    Bitboard one = square_bb((Square)(from + up)) & ~m->occupied;
    bool home = square_rank(square_relative(us, from)) == 1;
    Bitboard two = one && home ? square_bb((Square)(from + 2 * up)) & ~m->occupied : 0;
    return one | two | (attacks_pawn(us, from) & m->theirs);
}

static bool normal_is_legal(const Position *pos, const MoveMasks *m, Move move) {
    Square from = move_from(move), to = move_to(move);
    PieceType type = piece_type(pos->board[from]);
    if (type == KING)
        return (attacks_king(from) & ~m->ours & square_bb(to)) &&
               !attackers_of(pos, color_flip(pos->side), to, m->occupied ^ square_bb(from));
    Bitboard targets = type == PAWN ? pawn_targets(m, pos->side, from)
                                    : piece_attacks(type, pos->side, from, m->occupied);
    targets &= m->allowed;
    if (m->pinned & square_bb(from))
        targets &= squares_line(m->king, from);
    return !bitboard_many(pos->checkers) && (targets & square_bb(to));
}

static bool promotes(const Position *pos, Move move) {
    return piece_type(pos->board[move_from(move)]) == PAWN &&
           square_rank(square_relative(pos->side, move_to(move))) == 7;
}

bool move_is_legal(const Position *pos, Move move) {
    Square from = move_from(move), to = move_to(move);
    MoveKind kind = move_kind(move);
    Color us = pos->side;
    if (!(pos->by_color[us] & square_bb(from)) ||
        (kind != MOVE_PROMOTION && move != move_make_kind(from, to, kind)))
        return false;
    MoveMasks m = masks_of(pos, us);
    switch (kind) {
    case MOVE_EN_PASSANT:
        return to == pos->en_passant && piece_type(pos->board[from]) == PAWN &&
               (attacks_pawn(us, from) & square_bb(to)) && en_passant_is_safe(pos, us, from, to);
    case MOVE_CASTLING:
        return from == m.king && !pos->checkers && from != to &&
               to == pos->rook_home[us][castling_side(move)] &&
               castling_is_legal(pos, &m, us, castling_side(move));
    default:
        return promotes(pos, move) == (kind == MOVE_PROMOTION) && normal_is_legal(pos, &m, move);
    }
}

// The move attacks the enemy king directly, or opens a line to it. Castling, promotion and en
// passant are tested on the board after the move.
bool move_gives_check(const Position *pos, Move move) {
    Color us = pos->side;
    Square from = move_from(move), to = move_to(move);
    Square king = position_king(pos, color_flip(us));
    Bitboard rooks = rooks_and_queens(pos) & pos->by_color[us];
    Bitboard bishops = bishops_and_queens(pos) & pos->by_color[us];
    Bitboard occupied = position_occupied(pos) & ~square_bb(from);
    if (move_kind(move) == MOVE_CASTLING) {
        Square rook_to = castling_rook_to(us, castling_side(move));
        occupied &= ~square_bb(to);
        occupied |= square_bb(rook_to) | square_bb(castling_king_to(us, castling_side(move)));
        rooks = (rooks & ~square_bb(to)) | square_bb(rook_to);
    } else {
        PieceType type =
            move_kind(move) == MOVE_PROMOTION ? move_promotion(move) : piece_type(pos->board[from]);
        occupied |= square_bb(to);
        if (type != KING && (piece_attacks(type, us, to, occupied) & square_bb(king)))
            return true;
        if (move_kind(move) == MOVE_EN_PASSANT)
            occupied &= ~square_bb(en_passant_victim(to));
        rooks &= ~square_bb(from), bishops &= ~square_bb(from);
    }
    return (attacks_rook(king, occupied) & rooks) || (attacks_bishop(king, occupied) & bishops);
}

// Making moves and taking them back. Each move updates the keys and the checkers. Nothing here
// checks that a move is legal.

#include "rules/position.h"

#include "rules/bitboard.h"
#include "rules/legality.h"
#include "rules/zobrist.h"

const char POSITION_START_FEN[] = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

void rules_init(void) {
    static bool done;
    if (done)
        return;
    done = true;
    bitboard_init();
    zobrist_init();
}

Bitboard position_attackers(const Position *pos, Square s, Bitboard occupied) {
    return attackers_of(pos, WHITE, s, occupied) | attackers_of(pos, BLACK, s, occupied);
}

void position_refresh(Position *pos) {
    pos->key = zobrist.castling[pos->castling];
    pos->pawn_key = 0;
    for (Square s = 0; s < SQUARE_NB; s++) {
        Piece piece = pos->board[s];
        if (piece == NO_PIECE)
            continue;
        pos->key ^= zobrist.piece[piece][s];
        if (piece_type(piece) == PAWN)
            pos->pawn_key ^= zobrist.piece[piece][s];
    }
    if (pos->en_passant != SQUARE_NONE)
        pos->key ^= zobrist.en_passant[square_file(pos->en_passant)];
    if (pos->side == BLACK)
        pos->key ^= zobrist.black_to_move;
    pos->checkers = attackers_of(pos, color_flip(pos->side), position_king(pos, pos->side),
                                 position_occupied(pos));
}

RULES_INLINE void put(Position *pos, Piece piece, Square s) {
    pos->board[s] = piece;
    pos->by_type[piece_type(piece)] |= square_bb(s);
    pos->by_color[piece_color(piece)] |= square_bb(s);
}

RULES_INLINE void take(Position *pos, Piece piece, Square s) {
    pos->board[s] = NO_PIECE;
    pos->by_type[piece_type(piece)] ^= square_bb(s);
    pos->by_color[piece_color(piece)] ^= square_bb(s);
}

RULES_INLINE void shift(Position *pos, Piece piece, Square from, Square to) {
    Bitboard both = square_bb(from) | square_bb(to);
    pos->board[from] = NO_PIECE;
    pos->board[to] = piece;
    pos->by_type[piece_type(piece)] ^= both;
    pos->by_color[piece_color(piece)] ^= both;
}

// King and rook are removed before they are placed: in Chess960 the target of one may be the origin
// of the other.
RULES_INLINE void castle(Position *pos, Color us, Move move) {
    CastlingSide side = castling_side(move);
    Piece king = piece_make(us, KING), rook = piece_make(us, ROOK);
    Square king_to = castling_king_to(us, side), rook_to = castling_rook_to(us, side);
    take(pos, king, move_from(move));
    take(pos, rook, move_to(move));
    put(pos, king, king_to);
    put(pos, rook, rook_to);
    pos->key ^= zobrist.piece[king][move_from(move)] ^ zobrist.piece[king][king_to] ^
                zobrist.piece[rook][move_to(move)] ^ zobrist.piece[rook][rook_to];
}

RULES_INLINE void uncastle(Position *pos, Color us, Move move) {
    CastlingSide side = castling_side(move);
    take(pos, piece_make(us, KING), castling_king_to(us, side));
    take(pos, piece_make(us, ROOK), castling_rook_to(us, side));
    put(pos, piece_make(us, KING), move_from(move));
    put(pos, piece_make(us, ROOK), move_to(move));
}

RULES_INLINE void capture(Position *pos, Piece captured, Square s) {
    take(pos, captured, s);
    pos->key ^= zobrist.piece[captured][s];
    if (piece_type(captured) == PAWN)
        pos->pawn_key ^= zobrist.piece[captured][s];
    pos->rule50 = 0;
}

// Completes a pawn move: the promotion, or the en passant square after a double step.
RULES_INLINE void pawn_moved(Position *pos, Color us, Move move) {
    Piece pawn = piece_make(us, PAWN);
    Square from = move_from(move), to = move_to(move);
    pos->rule50 = 0;
    pos->pawn_key ^= zobrist.piece[pawn][from];
    if (move_kind(move) == MOVE_PROMOTION) {
        Piece promoted = piece_make(us, move_promotion(move));
        take(pos, pawn, to);
        put(pos, promoted, to);
        pos->key ^= zobrist.piece[pawn][to] ^ zobrist.piece[promoted][to];
        return;
    }
    pos->pawn_key ^= zobrist.piece[pawn][to];
    if ((from ^ to) == 16 && en_passant_is_possible(pos, color_flip(us), (from + to) / 2)) {
        pos->en_passant = (from + to) / 2;
        pos->key ^= zobrist.en_passant[square_file(to)];
    }
}

RULES_INLINE void move_piece(Position *pos, Color us, Move move, Undo *undo) {
    Square from = move_from(move), to = move_to(move);
    Piece piece = pos->board[from];
    Square victim = move_kind(move) == MOVE_EN_PASSANT ? en_passant_victim(to) : to;
    undo->captured = pos->board[victim];
    if (undo->captured != NO_PIECE)
        capture(pos, undo->captured, victim);
    shift(pos, piece, from, to);
    pos->key ^= zobrist.piece[piece][from] ^ zobrist.piece[piece][to];
    if (piece_type(piece) == PAWN)
        pawn_moved(pos, us, move);
}

RULES_INLINE void remember(const Position *pos, Undo *undo) {
    *undo = (Undo){.key = pos->key,
                   .pawn_key = pos->pawn_key,
                   .checkers = pos->checkers,
                   .captured = NO_PIECE,
                   .castling = pos->castling,
                   .rule50 = pos->rule50,
                   .en_passant = pos->en_passant};
}

// The changes of the state that every move makes, also a null move. rule50 stays at its largest
// value instead of overflowing.
RULES_INLINE void pass_turn(Position *pos, Color us) {
    pos->rule50 = (uint8_t)(pos->rule50 + (pos->rule50 < UINT8_MAX));
    pos->fullmove = (uint16_t)(pos->fullmove + us);
    pos->side = color_flip(us);
    pos->key ^= zobrist.black_to_move;
    if (pos->en_passant != SQUARE_NONE) {
        pos->key ^= zobrist.en_passant[square_file(pos->en_passant)];
        pos->en_passant = SQUARE_NONE;
    }
}

RULES_INLINE void make(Position *pos, Color us, Move move, Undo *undo) {
    remember(pos, undo);
    pass_turn(pos, us);
    uint8_t keep = pos->castling_keep[move_from(move)] & pos->castling_keep[move_to(move)];
    if (pos->castling & ~keep) {
        pos->key ^= zobrist.castling[pos->castling] ^ zobrist.castling[pos->castling & keep];
        pos->castling &= keep;
    }
    if (__builtin_expect(move_kind(move) == MOVE_CASTLING, 0))
        castle(pos, us, move);
    else
        move_piece(pos, us, move, undo);
    Color them = color_flip(us);
    pos->checkers = attackers_of(pos, us, position_king(pos, them), position_occupied(pos));
}

RULES_INLINE void restore(Position *pos, Color us, const Undo *undo) {
    pos->key = undo->key;
    pos->pawn_key = undo->pawn_key;
    pos->checkers = undo->checkers;
    pos->castling = undo->castling;
    pos->rule50 = undo->rule50;
    pos->en_passant = undo->en_passant;
    pos->fullmove = (uint16_t)(pos->fullmove - us);
    pos->side = us;
}

RULES_INLINE void unmake(Position *pos, Color us, Move move, const Undo *undo) {
    Square from = move_from(move), to = move_to(move);
    restore(pos, us, undo);
    if (__builtin_expect(move_kind(move) == MOVE_CASTLING, 0)) {
        uncastle(pos, us, move);
        return;
    }
    if (move_kind(move) == MOVE_PROMOTION) {
        take(pos, pos->board[to], to);
        put(pos, piece_make(us, PAWN), to);
    }
    shift(pos, pos->board[to], to, from);
    if (undo->captured != NO_PIECE)
        put(pos, undo->captured, move_kind(move) == MOVE_EN_PASSANT ? en_passant_victim(to) : to);
}

void position_make(Position *pos, Move move, Undo *undo) {
    if (pos->side == WHITE)
        make(pos, WHITE, move, undo);
    else
        make(pos, BLACK, move, undo);
}

void position_unmake(Position *pos, Move move, const Undo *undo) {
    if (pos->side == BLACK)
        unmake(pos, WHITE, move, undo);
    else
        unmake(pos, BLACK, move, undo);
}

void position_make_null(Position *pos, Undo *undo) {
    remember(pos, undo);
    pass_turn(pos, pos->side);
}

void position_unmake_null(Position *pos, const Undo *undo) {
    restore(pos, color_flip(pos->side), undo);
}

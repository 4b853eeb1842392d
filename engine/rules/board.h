// A chess position as plain data, and what can be read from it without a rule. position.h has the
// functions that set up and change positions.
#pragma once

#include "rules/types.h"

// The bit of a castling right: colour `c`, and the side of its king.
typedef enum { KING_SIDE, QUEEN_SIDE, SIDE_NB } CastlingSide;
static inline uint8_t castling_right(Color c, CastlingSide side) {
    return (uint8_t)(1 << (c * 2 + side));
}

typedef struct Position {
    Bitboard by_type[PIECE_TYPE_NB];
    Bitboard by_color[COLOR_NB];
    Piece board[SQUARE_NB];
    Key key;           // of everything that threefold repetition compares
    Key pawn_key;      // of the pawns alone
    Bitboard checkers; // pieces that give check to the side to move
    // Fixed when the position is set up; `castling` says which rights are left.
    Square rook_home[COLOR_NB][SIDE_NB]; // where a castling rook starts; SQUARE_NONE without right
    uint8_t castling_keep[SQUARE_NB];    // rights that survive a move from or to the square
    uint8_t castling;                    // bits of castling_right()
    Square en_passant; // target square, set only if a legal en passant capture exists, else
                       // SQUARE_NONE
    uint8_t rule50;    // plies since the last capture or pawn move; stays at 255
    uint16_t fullmove; // as in FEN
    Color side;        // to move
    bool chess960;     // selects the notation of castling (FEN, UCI)
} Position;

static inline Bitboard position_occupied(const Position *pos) {
    return pos->by_color[WHITE] | pos->by_color[BLACK];
}
static inline Bitboard position_pieces(const Position *pos, Color c, PieceType t) {
    return pos->by_color[c] & pos->by_type[t];
}
static inline Square position_king(const Position *pos, Color c) {
    return (Square)__builtin_ctzll(position_pieces(pos, c, KING));
}

// The basic types: colours, pieces, squares, moves, bitboards. They are plain values. The other
// headers of this folder have the rules.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t Bitboard; // bit s is square s; a1 = 0, b1 = 1, …, h8 = 63
typedef uint64_t Key;      // Zobrist key

typedef enum { WHITE, BLACK, COLOR_NB } Color;

typedef enum {
    PAWN,
    KNIGHT,
    BISHOP,
    ROOK,
    QUEEN,
    KING,
    PIECE_TYPE_NB,
    NO_PIECE_TYPE = 7
} PieceType;

// A piece is `color << 3 | type`; an empty square holds NO_PIECE.
typedef uint8_t Piece;
enum { NO_PIECE = 7, PIECE_NB = 16 };

typedef uint8_t Square;
enum { A1, B1, C1, D1, E1, F1, G1, H1, A8 = 56, H8 = 63, SQUARE_NB = 64, SQUARE_NONE = 64 };

// A move: bits 0–5 origin, 6–11 target, 12–13 promotion piece - KNIGHT, 14–15 kind. Castling is
// written as "king takes own rook" for classical chess and Chess960 alike.
typedef uint16_t Move;
enum { MOVE_NONE = 0 };
typedef enum { MOVE_NORMAL, MOVE_PROMOTION, MOVE_EN_PASSANT, MOVE_CASTLING } MoveKind;

// No legal position has more than 218 moves.
enum { MOVES_MAX = 256 };

static inline Color color_flip(Color c) {
    return (Color)(c ^ 1);
}

static inline Piece piece_make(Color c, PieceType t) {
    return (Piece)(c << 3 | t);
}
static inline Color piece_color(Piece p) {
    return (Color)(p >> 3);
}
static inline PieceType piece_type(Piece p) {
    return (PieceType)(p & 7);
}

static inline Square square_make(int file, int rank) {
    return (Square)(rank * 8 + file);
}
static inline int square_file(Square s) {
    return s & 7;
}
static inline int square_rank(Square s) {
    return s >> 3;
}
// The square as its owner sees it: ranks counted from the colour's own side.
static inline Square square_relative(Color c, Square s) {
    return (Square)(s ^ (c * 56));
}

static inline Move move_make(Square from, Square to) {
    return (Move)(from | to << 6);
}
static inline Move move_make_kind(Square from, Square to, MoveKind kind) {
    return (Move)(from | to << 6 | kind << 14);
}
static inline Move move_make_promotion(Square from, Square to, PieceType t) {
    return (Move)(from | to << 6 | (t - KNIGHT) << 12 | MOVE_PROMOTION << 14);
}
static inline Square move_from(Move m) {
    return m & 63;
}
static inline Square move_to(Move m) {
    return m >> 6 & 63;
}
static inline MoveKind move_kind(Move m) {
    return (MoveKind)(m >> 14);
}
static inline PieceType move_promotion(Move m) {
    return (PieceType)((m >> 12 & 3) + KNIGHT);
}

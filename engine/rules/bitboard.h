// Sets of squares, and the squares that pieces attack. rules_init() fills the tables, which are
// constant after that. Nothing here depends on the side to move.
#pragma once

#include "rules/types.h"

// How a rook or bishop looks up its attacks: attacks[(occupied & mask) * number >> shift].
typedef struct SliderTable {
    Bitboard mask;
    uint64_t number;
    const Bitboard *attacks;
    unsigned shift;
} SliderTable;

typedef struct BitboardTables {
    Bitboard knight[SQUARE_NB], king[SQUARE_NB];
    Bitboard pawn[COLOR_NB][SQUARE_NB];                    // squares a pawn of the colour attacks
    Bitboard rook_rays[SQUARE_NB], bishop_rays[SQUARE_NB]; // attacks on the empty board
    Bitboard between[SQUARE_NB][SQUARE_NB];                // strictly between, if aligned
    Bitboard line[SQUARE_NB][SQUARE_NB]; // the whole line, edge to edge, if aligned
    SliderTable rook[SQUARE_NB], bishop[SQUARE_NB];
} BitboardTables;

extern BitboardTables bitboard_tables;

// Called by rules_init().
void bitboard_init(void);

// The squares of a slider's mask: where a piece can shorten its rays.
Bitboard slider_mask(PieceType type, Square s);
// Attacks of a ROOK or BISHOP, found square by square: slow, but without a table.
Bitboard slider_walk(PieceType type, Square s, Bitboard occupied);

#define FILE_A_BB UINT64_C(0x0101010101010101)
#define RANK_1_BB UINT64_C(0xff)

static inline Bitboard bitboard_file(int file) {
    return FILE_A_BB << file;
}
static inline Bitboard bitboard_rank(int rank) {
    return RANK_1_BB << rank * 8;
}
static inline Bitboard square_bb(Square s) {
    return UINT64_C(1) << s;
}
static inline int bitboard_count(Bitboard b) {
    return __builtin_popcountll(b);
}
// The lowest square of a set that is not empty.
static inline Square bitboard_first(Bitboard b) {
    return (Square)__builtin_ctzll(b);
}
static inline Square bitboard_pop(Bitboard *b) {
    Square s = bitboard_first(*b);
    *b &= *b - 1;
    return s;
}
static inline bool bitboard_many(Bitboard b) {
    return (b & (b - 1)) != 0;
}

static inline Bitboard attacks_knight(Square s) {
    return bitboard_tables.knight[s];
}
static inline Bitboard attacks_king(Square s) {
    return bitboard_tables.king[s];
}
static inline Bitboard attacks_pawn(Color c, Square s) {
    return bitboard_tables.pawn[c][s];
}
static inline Bitboard attacks_slider(const SliderTable *t, Bitboard occupied) {
    return t->attacks[(occupied & t->mask) * t->number >> t->shift];
}
static inline Bitboard attacks_rook(Square s, Bitboard occupied) {
    return attacks_slider(&bitboard_tables.rook[s], occupied);
}
static inline Bitboard attacks_bishop(Square s, Bitboard occupied) {
    return attacks_slider(&bitboard_tables.bishop[s], occupied);
}
static inline Bitboard attacks_queen(Square s, Bitboard occupied) {
    return attacks_rook(s, occupied) | attacks_bishop(s, occupied);
}
static inline Bitboard squares_between(Square a, Square b) {
    return bitboard_tables.between[a][b];
}
static inline Bitboard squares_line(Square a, Square b) {
    return bitboard_tables.line[a][b];
}

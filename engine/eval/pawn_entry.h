// The data that the evaluation has about a pawn structure, and the two sets of squares from which
// it is computed. pawn_terms.h fills an entry, and pawn_cache.c stores it.
#pragma once

#include "rules/bitboard.h"
#include "rules/position.h"

typedef struct PawnEntry {
    Key key;
    int32_t score;             // Pair, White's view
    Bitboard passed[COLOR_NB]; // passed pawns
    Bitboard spans[COLOR_NB];  // squares the colour's pawns attack now or after advancing
} PawnEntry;

// All squares that pawns of `c` on `pawns` attack.
static inline Bitboard pawns_attacks(Color c, Bitboard pawns) {
    Bitboard west = pawns & ~bitboard_file(0), east = pawns & ~bitboard_file(7);
    return c == WHITE ? west << 7 | east << 9 : west >> 9 | east >> 7;
}

// Every square in front of the set, on the same files, in the direction in which `c` moves.
static inline Bitboard pawns_front(Color c, Bitboard set) {
    if (c == WHITE) {
        set <<= 8;
        set |= set << 8;
        set |= set << 16;
        return set | set << 32;
    }
    set >>= 8;
    set |= set >> 8;
    set |= set >> 16;
    return set | set >> 32;
}

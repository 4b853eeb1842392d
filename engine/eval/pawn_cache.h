// Pawn structure, judged once and remembered: pawns change seldom, so nearly every evaluation finds
// its structure in the cache. A cache belongs to one thread.
#pragma once

#include "rules/bitboard.h"
#include "rules/position.h"

typedef struct PawnEntry {
    Key key;
    int32_t score;             // Pair, White's view
    Bitboard passed[COLOR_NB]; // passed pawns
    Bitboard spans[COLOR_NB];  // squares the colour's pawns attack now or after advancing
} PawnEntry;

enum { PAWN_CACHE_SIZE = 8192 };
typedef struct PawnCache {
    PawnEntry entries[PAWN_CACHE_SIZE];
} PawnCache;

void pawn_cache_clear(PawnCache *cache);
// The structure of `pos`, borrowed from the cache until the next call.
const PawnEntry *pawns_probe(PawnCache *cache, const Position *pos);

// All squares that pawns of `c` on `pawns` attack.
static inline Bitboard pawns_attacks(Color c, Bitboard pawns) {
    Bitboard west = pawns & ~bitboard_file(0), east = pawns & ~bitboard_file(7);
    return c == WHITE ? west << 7 | east << 9 : west >> 9 | east >> 7;
}

// Every square in front of the set, on its files, seen by `c`.
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

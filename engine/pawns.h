// Pawn structure, judged once and remembered: pawns change seldom, so nearly every evaluation finds
// its structure in the cache. A cache belongs to one thread.
#pragma once

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
Bitboard pawns_attacks(Color c, Bitboard pawns);
// Every square in front of the set, on its files, seen by `c`.
Bitboard pawns_front(Color c, Bitboard set);

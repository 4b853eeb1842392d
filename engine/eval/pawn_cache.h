// A cache of pawn structures. Pawns move seldom, so nearly every evaluation finds its structure
// here. A cache belongs to one thread.
#pragma once

#include "eval/pawn_entry.h"

enum { PAWN_CACHE_SIZE = 8192 };
typedef struct PawnCache {
    PawnEntry entries[PAWN_CACHE_SIZE];
} PawnCache;

void pawn_cache_clear(PawnCache *cache);
// The structure of `pos`, borrowed from the cache until the next call.
const PawnEntry *pawns_probe(PawnCache *cache, const Position *pos);

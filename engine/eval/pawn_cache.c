// The cache of pawn structures. pawn_terms.h evaluates a structure.
#include "eval/pawn_cache.h"

#include <string.h>

#include "eval/pawn_terms.h"

void pawn_cache_clear(PawnCache *cache) {
    memset(cache, 0, sizeof *cache);
    // An empty entry must not look like the structure with the key 0.
    cache->entries[0].key = 1;
}

const PawnEntry *pawns_probe(PawnCache *cache, const Position *pos) {
    PawnEntry *entry = &cache->entries[pos->pawn_key % PAWN_CACHE_SIZE];
    if (entry->key != pos->pawn_key)
        pawns_judge(pos, entry, NULL);
    return entry;
}

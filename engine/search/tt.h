// The transposition table: search results by position key. All threads share it without locks. An
// entry is two words, and the key is stored XORed with the data, so that an entry that two threads
// wrote at once matches no key (Hyatt and Mann, "A lock-less transposition table", 2002). Four
// entries form a cluster, which is one cache line.
#pragma once

#include "base/score.h"
#include "rules/types.h"

typedef struct TTEntry {
    Move move;   // MOVE_NONE if none was best
    Score score; // mates are counted from the root of the search that probes
    Score eval;  // static evaluation, or SCORE_NONE
    int depth;   // plies searched; 0 for quiescence
    Bound bound;
} TTEntry;

typedef struct TT {
    struct TTCluster *clusters;
    size_t count;
    uint8_t age; // of the current search
} TT;

enum { TT_DEFAULT_MB = 16, TT_MAX_MB = 65536 };

// Replaces the table by a cleared one of `megabytes`. Returns false if there is not enough memory.
// Then it allocates the old size again; if that fails too, the process ends.
bool tt_resize(TT *tt, size_t megabytes);
void tt_free(TT *tt);
void tt_clear(TT *tt);
// Begins a new search: all entries stored so far count as old.
void tt_new_search(TT *tt);

// True if the entry's bound proves that the position's value lies outside the window from `alpha`
// to `beta`, or the entry has the exact value: then a search of this depth is not needed.
static inline bool tt_entry_decides(const TTEntry *entry, Score alpha, Score beta) {
    return entry->bound == BOUND_EXACT || (entry->bound == BOUND_LOWER && entry->score >= beta) ||
           (entry->bound == BOUND_UPPER && entry->score <= alpha);
}

bool tt_probe(const TT *tt, Key key, int ply, TTEntry *out);
void tt_store(TT *tt, Key key, int ply, const TTEntry *entry);
void tt_prefetch(const TT *tt, Key key);
// How much of the table the current search has filled, in permille.
int tt_permille_full(const TT *tt);

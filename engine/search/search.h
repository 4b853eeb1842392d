// The search as its callers see it: give it a position and limits, get a move. A Search owns a
// transposition table and the memory of its threads. A process may hold several.
#pragma once

#include "nnue/nnue.h"
#include "search/limits.h"
#include "search/root.h"

typedef struct SearchResult {
    Move best;   // MOVE_NONE when there is no legal move
    Move ponder; // MOVE_NONE when unknown
    Score score;
    int depth;
    uint64_t nodes;
} SearchResult;

// New, with a cleared table. Fills the tables of rules, evaluation and reductions on first use.
Search *search_new(size_t hash_mb, int threads);
void search_free(Search *search);
// Do not call the next five functions while a search runs.
// Returns false if there is not enough memory; the old size stays.
bool search_set_hash(Search *search, size_t hash_mb);
void search_set_threads(Search *search, int threads);
void search_clear(Search *search); // forgets everything, as for a new game
// The net is borrowed until the next call or the end of the search. NULL means the classical
// evaluation. A new Search begins with network_default(). Forgets everything.
void search_set_network(Search *search, const Network *net);
void search_on_report(Search *search, SearchReport *report, void *context); // NULL: no reports

// search_prepare() copies its arguments and sets up the search. search_run() then searches in the
// calling thread until a limit or search_stop(). There are two steps so that a stop between them is
// not lost.
void search_prepare(Search *search, const Root *root, const SearchLimits *limits);
SearchResult search_run(Search *search);
// These two may be called from any thread at any time.
void search_stop(Search *search);
void search_ponderhit(Search *search);

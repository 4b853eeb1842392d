// The limits of a search, and the reports that it sends while it runs. Plain data, shared by the
// search and its callers.
#pragma once

#include "base/score.h"
#include "rules/movegen.h"
#include "search/root.h"

enum {
    SEARCH_THREADS_MAX = 256,
    SEARCH_DEPTH_MAX = PLY_MAX - 8,
    SEARCH_MULTIPV_MAX = MOVES_MAX,
};

// When to stop. With all fields zero the search runs until it is stopped.
typedef struct SearchLimits {
    int64_t time_ms[COLOR_NB], increment_ms[COLOR_NB];
    bool has_clock;
    int moves_to_go;      // 0: the rest of the game
    int64_t move_time_ms; // 0: none
    int64_t overhead_ms;  // time lost between the engine and the GUI on each move
    int64_t start_us;     // clock_now_us() when the request came
    uint64_t nodes;       // 0: none
    uint64_t soft_nodes;  // no new iteration after this many nodes; 0: none
    int depth;            // 0: none
    int mate;             // stop when a mate in this many moves is found; 0: none
    bool infinite, ponder;
    int multi_pv;          // 0 reads as 1
    MoveList search_moves; // root moves to consider; size 0: all
} SearchLimits;

// One principal variation, reported after an iteration, and at the end of a search that has gone on
// since.
typedef struct SearchInfo {
    int depth, seldepth, multi_pv; // multi_pv counts from 1
    Score score;
    Bound bound; // what `score` is; BOUND_EXACT except at the end of a search that was stopped
    uint64_t nodes;
    int64_t time_us;
    int hash_permille;
    const Move *pv; // borrowed
    int pv_length;
} SearchInfo;

// A search; search.h has its functions.
typedef struct Search Search;

// Called once for each principal variation. The last call for the first one has the move, score and
// nodes of the SearchResult.
typedef void SearchReport(void *context, const Root *root, const SearchInfo *info);

// The search as its users see it: give it a position and limits, get a move. A Search owns a
// transposition table and threads' memory; a process may hold several.
#pragma once

#include "base/score.h"
#include "nnue/nnue.h"
#include "rules/movegen.h"
#include "rules/position.h"

enum {
    SEARCH_THREADS_MAX = 256,
    SEARCH_DEPTH_MAX = PLY_MAX - 8,
    SEARCH_MULTIPV_MAX = MOVES_MAX,
    ROOT_KEYS_MAX = 256,
};

// Where to search from: the position and, for repetitions, the keys of those before it since the
// last capture or pawn move.
typedef struct Root {
    Position pos;
    int key_count;
    Key keys[ROOT_KEYS_MAX];
} Root;

void root_init(Root *root, const Position *pos);
void root_play(Root *root, Move move); // legal in root->pos

// All zero: search until stopped.
typedef struct SearchLimits {
    int64_t time_ms[COLOR_NB], increment_ms[COLOR_NB];
    bool has_clock;
    int moves_to_go;      // 0: the rest of the game
    int64_t move_time_ms; // 0: none
    int64_t overhead_ms;  // lost on the way between us and the clock's keeper
    int64_t start_us;     // clock_now_us() when the request came
    uint64_t nodes;       // 0: none
    uint64_t soft_nodes;  // no new iteration once so many are searched; 0: none
    int depth;            // 0: none
    int mate;             // stop at a mate in so many moves; 0: none
    bool infinite, ponder;
    int multi_pv;          // 0 reads as 1
    MoveList search_moves; // root moves to consider; size 0: all
} SearchLimits;

// One line of thought, after an iteration.
typedef struct SearchInfo {
    int depth, seldepth, multi_pv; // multi_pv counts from 1
    Score score;
    uint64_t nodes;
    int64_t time_us;
    int hash_permille;
    const Move *pv; // borrowed
    int pv_length;
} SearchInfo;

typedef struct SearchResult {
    Move best;   // MOVE_NONE when there is no legal move
    Move ponder; // MOVE_NONE when unknown
    Score score;
    int depth;
    uint64_t nodes;
} SearchResult;

typedef struct Search Search;
typedef void SearchReport(void *context, const Root *root, const SearchInfo *info);

// New, with a cleared table. Fills the tables of rules, evaluation and reductions on first use.
Search *search_new(size_t hash_mb, int threads);
void search_free(Search *search);
// None of these while a search runs. False: no memory, the old size stays.
bool search_set_hash(Search *search, size_t hash_mb);
void search_set_threads(Search *search, int threads);
void search_clear(Search *search); // forgets everything, as for a new game
// Borrowed as long as the search lives or until the next call; NULL is the classical evaluation. A
// new Search begins with network_default(). Forgets everything.
void search_set_network(Search *search, const Network *net);
void search_on_report(Search *search, SearchReport *report, void *context); // NULL: silence

// `prepare` copies its arguments and makes ready; `run` then thinks in the calling thread until a
// limit or `stop`. Two steps, so that a stop between them is not lost.
void search_prepare(Search *search, const Root *root, const SearchLimits *limits);
SearchResult search_run(Search *search);
// From any thread, at any time.
void search_stop(Search *search);
void search_ponderhit(Search *search);

// The state of one search thread, and the state that all threads of a search share. Internal to the
// search: callers use search.h.
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "eval/pawn_cache.h"
#include "nnue/accumulator.h"
#include "search/history.h"
#include "search/limits.h"
#include "search/timer.h"
#include "search/tt.h"

enum { STACK_BELOW = 6 }; // frames before the root, so that "six plies ago" always exists

// What the search knows about one ply of the current line.
typedef struct Frame {
    // The move being searched from here, MOVE_NONE for a null move, and the piece that makes it.
    Move move;
    Piece piece;

    // Neither a capture nor a promotion to a queen.
    bool is_quiet;

    // The history of replies to the move.
    PieceToHistory *replies;

    Move killers[2];

    // A move that is not searched at this ply (singular_search).
    Move excluded;

    // How many moves of the line up to here were extended by two plies.
    int double_extensions;

    // Static evaluation, corrected; SCORE_NONE in check.
    Score eval;

    // The value of Searcher.repetition_floor before a null move at this ply.
    int repetition_floor;

    // Keys of each colour's pieces and king, without the pawns.
    Key piece_keys[COLOR_NB];

    int pv_length;
    Move pv[PLY_MAX];
} Frame;

typedef struct RootMove {
    Move move;
    Score score;    // -SCORE_INFINITE if the search gave only an upper bound
    Bound bound;    // what `score` is, if the search gave it
    Score previous; // in the iteration before
    int seldepth;
    uint64_t nodes; // searched below this move, in all iterations
    int pv_length;
    Move pv[PLY_MAX];
} RootMove;

typedef struct Searcher {
    Search *shared;
    int index; // thread 0 checks the limits and reports
    Position pos;
    int ply;
    Frame stack[PLY_MAX + STACK_BELOW + 2];
    // Keys of the positions of the game and of the line before pos.
    Key keys[ROOT_KEYS_MAX + PLY_MAX + 2];
    int key_count;
    int repetition_floor; // keys before this one lie before a null move and cannot be repeated
    _Atomic uint64_t nodes;
    int seldepth;
    int null_move_ban; // null moves are forbidden before this ply
    RootMove root_moves[MOVES_MAX];
    int root_count;
    int pv_index;        // number of root moves that already have their place (MultiPV)
    int root_depth;      // depth of the iteration
    uint64_t root_nodes; // nodes at the end of the last root move
    int completed;       // depth of the last complete iteration
    uint64_t told_nodes; // nodes of all threads at the last report; UINT64_MAX before the first
    History history;
    PawnCache pawns;
    Accumulators *accumulators; // of the net in use; NULL for the classical evaluation
    pthread_t thread;
} Searcher;

struct Search {
    TT tt;
    const Network *net; // borrowed; NULL: the classical evaluation
    Searcher *searchers[SEARCH_THREADS_MAX];
    int thread_count;
    Root root;
    SearchLimits limits;
    Timer timer;
    atomic_bool stopped;
    atomic_bool pondering;
    SearchReport *report;
    void *report_context;
};

// True once the search was stopped. Values returned after that are ignored.
static inline bool searcher_was_stopped(const Searcher *s) {
    return atomic_load_explicit(&s->shared->stopped, memory_order_relaxed);
}

// The nodes that this thread has searched.
static inline uint64_t searcher_nodes(const Searcher *s) {
    return atomic_load_explicit(&s->nodes, memory_order_relaxed);
}

static inline Frame *searcher_frame(Searcher *s) {
    return &s->stack[s->ply + STACK_BELOW];
}

// Fetches the memory of the table's entry for the position after `move`, which may soon be made.
void searcher_prefetch(const Searcher *s, Move move);
// Make and take back a move on the searcher's board. They also keep the stack, the keys, the net's
// accumulators and the node count.
void searcher_make(Searcher *s, Move move, Undo *undo);
void searcher_unmake(Searcher *s, Move move, const Undo *undo);
void searcher_make_null(Searcher *s, Undo *undo);
void searcher_unmake_null(Searcher *s, const Undo *undo);

// Computes the keys of each colour's pieces without pawns from the board.
void piece_keys_of(const Position *pos, Key keys[COLOR_NB]);

// Nodes of all threads together.
uint64_t search_nodes(const Search *search);
// To be called at every node. Stops the search when a limit is reached; the clock is read only
// every few hundred nodes. True if the search was stopped, now or earlier.
bool searcher_check_limits(Searcher *s);
// True if the position is a draw by repetition, by the fifty-move rule or by insufficient material.
// Within the line of the search one repetition is enough, because it could be continued.
bool searcher_is_draw(const Searcher *s);

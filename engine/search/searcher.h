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

enum { STACK_BELOW = 6 }; // frames under the root, so that "six plies ago" always exists

// What the search knows at one ply of the line it is in.
typedef struct Frame {
    // The move being searched from here, MOVE_NONE for a null move, and the piece that makes it.
    Move move;
    Piece piece;

    // Neither a capture nor a promotion to a queen.
    bool is_quiet;

    // The history of replies to the move.
    PieceToHistory *replies;

    Move killers[2];

    // Left out of the search from here, to see what the others are worth.
    Move excluded;

    // How many moves of the line up to here were extended by two plies.
    int double_extensions;

    // Static evaluation, corrected; SCORE_NONE in check.
    Score eval;

    // As it was before a null move made here.
    int repetition_floor;

    // Keys of each colour's pieces and king, without the pawns.
    Key piece_keys[COLOR_NB];

    int pv_length;
    Move pv[PLY_MAX];
} Frame;

typedef struct RootMove {
    Move move;
    Score score;    // -SCORE_INFINITE if not the best so far when searched
    Score previous; // of the iteration before
    int seldepth;
    uint64_t nodes; // searched after it, in all iterations
    int pv_length;
    Move pv[PLY_MAX];
} RootMove;

typedef struct Searcher {
    Search *shared;
    int index; // 0 leads: it keeps the clock and reports
    Position pos;
    int ply;
    Frame stack[PLY_MAX + STACK_BELOW + 2];
    Key keys[ROOT_KEYS_MAX + PLY_MAX + 2]; // of the game's and the line's positions before pos
    int key_count;
    int repetition_floor; // keys before this one lie beyond a null move and repeat nothing
    _Atomic uint64_t nodes;
    int seldepth;
    int null_move_ban; // plies below which null moves may be tried again
    RootMove root_moves[MOVES_MAX];
    int root_count;
    int pv_index;        // root moves before this one are already placed (MultiPV)
    int root_depth;      // of the iteration
    uint64_t root_nodes; // when the last root move was done
    int completed;       // depth of the last iteration that ended
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

// This thread's nodes.
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

// Keys of the pieces of each colour without the pawns, from the board.
void piece_keys_of(const Position *pos, Key keys[COLOR_NB]);

// Nodes of all threads together.
uint64_t search_nodes(const Search *search);
// To be called at every node. Stops the search when a limit is reached; the clock is read only every
// few hundred nodes. True if the search was stopped, now or earlier.
bool searcher_check_limits(Searcher *s);
// Draw by repetition, fifty moves or too little material. Once is enough within the search's own
// line, since what was done once can be done again.
bool searcher_is_draw(const Searcher *s);

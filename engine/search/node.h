// The data of one node while its moves are tried, and the three functions through which the search
// calls itself. Internal to the search.
#pragma once

#include "search/searcher.h"

typedef struct Node {
    Frame *frame; // of the node's ply
    Score alpha, beta;
    int depth;

    bool is_root;
    // The window is open: an exact value is wanted.
    bool is_pv;
    // Expected to fail high, by its place in the tree.
    bool is_cut;
    bool in_check;

    // The static evaluation rose since our last move.
    bool improving;

    // The static evaluation without correction, as the table stores it. The estimate that the
    // search uses: frame->eval, or the table's score if that is closer to the true value. Both are
    // SCORE_NONE in check.
    Score raw_eval, eval;

    bool in_table;
    TTEntry table;
    // Plies by which the table's move is extended (singular_search).
    int table_extension;
} Node;

// The move of the node that is tried now, with what is known before it is made.
typedef struct Candidate {
    Move move;

    // The number of legal moves of the node up to this one, and the number of those that are
    // searched. The second number counts this move once it is known that it is searched.
    int legal_count, searched_count;

    bool is_quiet, gives_check;

    // quiet_history() or capture_history().
    int history;

    // In plies; set once it is known that the move is searched.
    int extension;
} Candidate;

// The recursion of the search goes through these three functions.

// The value of the searcher's position, searched `depth` plies deep in the window from `alpha` to
// `beta` (alphabeta.c). `cut`: the node is expected to fail high, as the first child of a node that
// should fail low, or a child that should refute a late move (Knuth and Moore's type 2, 1975).
Score search_node(Searcher *s, Score alpha, Score beta, int depth, bool cut);
// The value of one move of the node: plays the move, searches the position after it and takes the
// move back (pvs.c).
Score move_search(Searcher *s, const Node *node, const Candidate *move);
// The value of the position when only captures are tried, and in check every move (quiescence.c).
Score quiescence(Searcher *s, Score alpha, Score beta);

// What is known about one node of the tree while its moves are tried. Internal to the search.
#pragma once

#include "searcher.h"

typedef struct Node {
    Score alpha, beta;
    int depth;
    bool is_root, is_pv; // is_pv: the window is open, an exact value is wanted
    bool in_check;
    bool improving; // the static evaluation rose since our last move
    Score eval;     // static evaluation, sharpened by the table; SCORE_NONE in check
    bool in_table;
    TTEntry table;
} Node;

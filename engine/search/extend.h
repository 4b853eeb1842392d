// Extensions: moves that are searched deeper. Each idea is one function in extend.c.
#pragma once

#include "search/node.h"

// Called before any move is tried: finds out whether the table's move is the only good one. True if
// the node needs no further search; then `*value` is its value.
bool singular_search(Searcher *s, Node *node, Score *value);
// The number of plies by which the search of a move is extended; negative for a reduction.
int move_extension(const Searcher *s, const Node *node, const Candidate *move);

// Reductions: moves and nodes that are searched less deep. Each idea is one function here and one
// call in alphabeta.c or in late_move_reduction().
#pragma once

#include "search/node.h"

// Fills the table of late move reductions; once, before anything else here.
void reductions_init(void);

// Plies that the whole node is searched less deep.
int internal_iterative_reduction(const Node *node);
// Plies that the move's search is less deep at first; never so many that no ply is left.
int late_move_reduction(const Node *node, const Candidate *move);

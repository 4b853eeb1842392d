// Reductions: moves and nodes that are searched less deep. Each idea is one function here and one
// call in alphabeta.c or in late_move_reduction().
#pragma once

#include "search/node.h"

// Fills the table of late move reductions. Call it once, before the other functions of this file.
void reductions_init(void);

// The number of plies by which the whole node is reduced.
int internal_iterative_reduction(const Node *node);
// The number of plies by which the first search of a move is reduced. At least one ply is left.
int late_move_reduction(const Node *node, const Candidate *move);

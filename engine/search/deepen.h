// Iterative deepening: one thread searches the root at depth 1, then 2, and so on until a limit.
// Internal to the search.
#pragma once

#include "search/searcher.h"

// The legal moves of the root, or those of them that are `wanted` if any are.
void root_moves_init(Searcher *s, const MoveList *wanted);
// Searches the root a ply deeper each time, until stopped or until no further iteration pays.
void deepen(Searcher *s);

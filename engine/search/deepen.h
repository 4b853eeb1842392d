// Iterative deepening: one thread searches the root at depth 1, then 2, and so on until a limit.
// Internal to the search.
#pragma once

#include "search/searcher.h"

// Fills the list of root moves: all legal moves, or only those in `wanted` unless it is empty.
void root_moves_init(Searcher *s, const MoveList *wanted);
// Describes the move at place `index` of the root moves, for a report. `s` stands at the root.
void line_describe(Searcher *s, int index, SearchInfo *out);
// Reports once more, at the end of the search, unless nothing was searched since the last report.
void report_end(Searcher *s);
// Searches the root, one ply deeper each time, until the search is stopped or another iteration is
// not worth its time.
void deepen(Searcher *s);

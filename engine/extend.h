// What is searched deeper than its turn. Each idea is one function in extend.c.
#pragma once

#include "node.h"

// Plies that the search after a move is deeper than usual.
int move_extension(const Searcher *s, const Candidate *move);

// Pruning. Each idea is one function here and one call in alphabeta.c, so that it can be removed or
// changed alone. A function `X_prune` that has a parameter `value` returns true if the node needs
// no further search, and stores the node's value there.
#pragma once

#include "search/node.h"

// Called before any move is tried.
bool mate_distance_prune(const Searcher *s, Node *node, Score *value);
bool table_prune(const Node *node, Score *value);
bool reverse_futility_prune(const Node *node, Score *value);
bool razor_prune(Searcher *s, const Node *node, Score *value);
bool null_move_prune(Searcher *s, const Node *node, Score *value);

// Called for one move, before it is made. True if the move is not searched.
bool late_move_prune(const Node *node, const Candidate *move);
bool futility_prune(const Node *node, const Candidate *move);
bool exchange_prune(const Searcher *s, const Node *node, const Candidate *move);

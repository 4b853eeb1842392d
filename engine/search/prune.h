// What is cut off. Each idea is one function here and one call in alphabeta.c, so that it can be
// taken away or changed by itself. The functions `X_prune` with a `value` answer whether the node
// is done, and with what value.
#pragma once

#include "search/node.h"

// Before any move is tried.
bool mate_distance_prune(const Searcher *s, Node *node, Score *value);
bool table_prune(const Node *node, Score *value);
bool reverse_futility_prune(const Node *node, Score *value);
bool razor_prune(Searcher *s, const Node *node, Score *value);
bool null_move_prune(Searcher *s, const Node *node, Score *value);

// For one move, before it is made.
bool late_move_prune(const Node *node, const Candidate *move);
bool futility_prune(const Node *node, const Candidate *move);
bool exchange_prune(const Searcher *s, const Node *node, const Candidate *move);

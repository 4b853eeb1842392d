// What the search asks for a position's static worth: the net where one is loaded, else the
// classical evaluation (eval.h), whose knowledge of endgames against a bare king serves both.
#pragma once

#include "search/searcher.h"

// A net's raw output as a score: centipawns, less as the fifty moves run out, never a mate's.
Score evaluator_score(int32_t raw, int rule50);

// Centipawns for the side to move. Depends on nothing but the position and the net. In check nobody
// should want it.
Score searcher_evaluate(Searcher *s);
// The same of any position, without a search; slow. `net` may be NULL.
Score position_evaluate(const Position *pos, const Network *net);

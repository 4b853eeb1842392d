// The static evaluation of a position, as the search uses it: the net if one is loaded, otherwise
// the classical evaluation (eval/eval.h). Endgames against a bare king are always judged by the
// rules of the classical evaluation.
#pragma once

#include "search/searcher.h"

// A net's raw output as a score in centipawns, reduced by the fifty-move counter. Never a mate
// score.
Score evaluator_score(int32_t raw, int rule50);

// Centipawns for the side to move. Depends only on the position and the net. Not meant for
// positions in check.
Score searcher_evaluate(Searcher *s);
// The same for any position, without a search. Slow. NULL for `net` means the classical evaluation.
Score position_evaluate(const Position *pos, const Network *net);

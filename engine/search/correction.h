// Correction history. The search remembers by how much its results differed from the static
// evaluation, for features of the position. The evaluation of a later position with the same
// features is corrected by that (Caissa and Stockfish; chessprogramming wiki, Static Evaluation
// Correction History). Each feature has a table in History, indexed by the side to move and the key
// of the feature.
#pragma once

#include "search/searcher.h"

// The corrected evaluation of the searcher's position; `raw` is the evaluation without correction.
// Never a mate score.
Score eval_corrected(Searcher *s, Score raw);
// Learns that the result of a search of `depth` plies was `error` centipawns above the corrected
// evaluation.
void correction_learn(Searcher *s, Score error, int depth);

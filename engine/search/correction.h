// Correction history: how far searches came out from the static evaluation is remembered by
// features of the position, and the evaluation of the next position with the same features is
// corrected by it (Caissa and Stockfish; chessprogramming wiki, Static Evaluation Correction
// History). Each feature has a table in History by side to move and the feature's key.
#pragma once

#include "search/searcher.h"

// `raw`, the evaluation of the searcher's position, corrected; never a mate score.
Score eval_corrected(Searcher *s, Score raw);
// Takes in that a search `depth` plies deep came out `error` centipawns above the corrected
// evaluation.
void correction_learn(Searcher *s, Score error, int depth);

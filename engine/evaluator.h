// What the search asks for a position's static worth: the net where one is loaded, else the
// classical evaluation.
#pragma once

#include "searcher.h"

// Centipawns for the side to move, never a mate score. Depends on nothing but the position and the
// net. Not in check: nobody should want it there.
Score searcher_evaluate(Searcher *s);

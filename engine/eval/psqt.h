// Material and piece-square values, made ready for every piece and square.
#pragma once

#include "eval/values.h"
#include "rules/types.h"

// By piece and square, in White's view: the values of Black's pieces are negative.
extern Pair PSQT[PIECE_NB][SQUARE_NB];

// Fills the table from EVAL.
void psqt_init(void);

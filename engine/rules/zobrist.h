// The random numbers from which position keys are computed. They are the same on every machine and
// in every run.
#pragma once

#include "rules/types.h"

typedef struct ZobristTables {
    Key piece[PIECE_NB][SQUARE_NB];
    Key castling[16];  // by Position.castling
    Key en_passant[8]; // by file
    Key black_to_move;
} ZobristTables;

extern ZobristTables zobrist;

// Called by rules_init().
void zobrist_init(void);

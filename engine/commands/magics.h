// The search for magic numbers, which produced rules/magics.h.
#pragma once

#include <stdio.h>

#include "rules/bitboard.h"

// The magic number of a square: the first that fits, the same on every machine. `type` is ROOK or
// BISHOP.
uint64_t magic_search(PieceType type, Square s);

// Writes the whole of engine/rules/magics.h.
void magic_print(FILE *out);

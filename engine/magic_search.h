// The search for magic numbers: how engine/rules/magics.h came to be.
#pragma once

#include <stdio.h>

#include "rules/bitboard.h"

typedef struct MagicFound {
    uint64_t number;
    unsigned shift;
    unsigned size; // entries used: highest index + 1
} MagicFound;

// The number with the smallest table among a fixed count of sparse random ones, the same on every
// machine. `type` is ROOK or BISHOP.
MagicFound magic_search(PieceType type, Square s);

// Writes the whole of engine/rules/magics.h.
void magic_print(FILE *out);

// `engine magics`: prints the header. Arguments after the command word; returns an exit status.
int command_magics(int argc, char **argv);

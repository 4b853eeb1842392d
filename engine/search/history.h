// History tables: what a search thread remembers of moves that did well, so that they are tried
// early in other positions. Butterfly history (Schaeffer, "The History Heuristic", 1983); histories
// of captures, of moves by pawn structure, and of replies to the moves one, two, four and six plies
// before; counter moves (Uiterwijk, 1992). All values stay within ±HISTORY_MAX. The tables of
// correction.h are here as well.
#pragma once

#include "rules/position.h"

enum { HISTORY_MAX = 16384 };
enum { CORRECTION_SIZE = 16384 }; // slots of a table of corrections

enum { PAWN_HISTORY_SIZE = 512 };

typedef int16_t PieceToHistory[PIECE_NB][SQUARE_NB];

typedef struct History {
    // By side to move, from, to.
    int16_t quiet[COLOR_NB][SQUARE_NB][SQUARE_NB];

    // By piece, to, captured type.
    int16_t capture[PIECE_NB][SQUARE_NB][8];

    // The best reply to a move, by its piece and target.
    Move counter[PIECE_NB][SQUARE_NB];

    // By key of the pawns, piece, to.
    PieceToHistory pawn[PAWN_HISTORY_SIZE];

    // By piece and target of the earlier move; [NO_PIECE][0] stands for a null move.
    PieceToHistory replies[PIECE_NB][SQUARE_NB];

    // Corrections of the evaluation (correction.h), by side to move and key of the pawns.
    int16_t pawn_correction[COLOR_NB][CORRECTION_SIZE];

    // The same by side to move, colour of the pieces, and the key of these pieces without pawns.
    int16_t piece_correction[COLOR_NB][COLOR_NB][CORRECTION_SIZE];
} History;

void history_clear(History *history);

// The bonus for a move that caused a cutoff in a search of `depth` plies.
int history_bonus(int depth);
// Adds `bonus` to `*value`, reduced as the value approaches ±HISTORY_MAX, so that it stays inside.
void history_update(int16_t *value, int bonus);

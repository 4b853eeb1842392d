// Piece-square values. values.c has those of the files a to d; the files e to h mirror them.
#include "eval/psqt.h"

Pair PSQT[PIECE_NB][SQUARE_NB];

void psqt_init(void) {
    for (int t = PAWN; t <= KING; t++)
        for (Square s = 0; s < SQUARE_NB; s++) {
            int file = square_file(s) < 4 ? square_file(s) : 7 - square_file(s);
            Pair value = EVAL.material[t] + EVAL.squares[t][square_rank(s)][file];
            PSQT[piece_make(WHITE, (PieceType)t)][s] = value;
            PSQT[piece_make(BLACK, (PieceType)t)][square_relative(BLACK, s)] = -value;
        }
}

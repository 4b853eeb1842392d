// Letters of pieces, files and ranks for the text formats.

#include "rules/text.h"

const char rules_piece_letters[] = "PNBRQK";

PieceType piece_type_read(char letter) {
    for (PieceType t = PAWN; t <= KING; t++)
        if (letter == rules_piece_letters[t] || letter == (rules_piece_letters[t] | 0x20))
            return t;
    return NO_PIECE_TYPE;
}

// Letters and messages for the text formats.

#include "text.h"

#include <stdarg.h>
#include <stdio.h>

const char rules_piece_letters[] = "PNBRQK";

bool rules_refuse(RulesError *err, const char *format, ...) {
    if (!err)
        return false;
    va_list args;
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    return false;
}

PieceType piece_type_read(char letter) {
    for (PieceType t = PAWN; t <= KING; t++)
        if (letter == rules_piece_letters[t] || letter == (rules_piece_letters[t] | 0x20))
            return t;
    return NO_PIECE_TYPE;
}

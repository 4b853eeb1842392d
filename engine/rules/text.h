// Small functions that the text formats share. Internal to the rules.
#pragma once

#include "rules/types.h"

extern const char rules_piece_letters[]; // White's, by PieceType: "PNBRQK"

// Whether `ch` is a byte that ends or pads a field.
static inline bool char_is_space(char ch) {
    return ch == ' ' || (ch >= '\t' && ch <= '\r');
}
// `ch` if it is printable, otherwise '?'. For messages.
static inline char char_shown(char ch) {
    return ch > ' ' && ch < 127 ? ch : '?';
}

// The square that two letters name, else SQUARE_NONE.
static inline Square square_read(const char *text) {
    bool fits = text[0] >= 'a' && text[0] <= 'h' && text[1] >= '1' && text[1] <= '8';
    return fits ? square_make(text[0] - 'a', text[1] - '1') : SQUARE_NONE;
}
// Writes two letters without a NUL and returns the address after them.
static inline char *square_write(Square s, char *out) {
    *out++ = (char)('a' + square_file(s));
    *out++ = (char)('1' + square_rank(s));
    return out;
}

// The piece type for a letter of either case, or NO_PIECE_TYPE.
PieceType piece_type_read(char letter);

// Opening books in Polyglot's format: entries of 16 bytes (key, move, weight, learn; big-endian),
// sorted by key. The bytes come from outside: a move that is not legal is skipped.
#pragma once

#include "rules/error.h"
#include "rules/position.h"

typedef struct PolyglotBook {
    const unsigned char *data; // borrowed
    size_t entries;
} PolyglotBook;

typedef struct PolyglotMove {
    Move move;
    uint16_t weight;
} PolyglotMove;

// The key of a position, as published. If only a pinned pawn could capture en passant, the key
// differs from Polyglot's own, because Polyglot does not test whether the capture is legal.
Key polyglot_key(const Position *pos);
// False if the bytes are not such a book: an odd size, or keys that are not sorted.
bool polyglot_open(PolyglotBook *book, const void *data, size_t size, Refusal *err);
// Finds the legal moves that the book has for `pos`, at most MOVES_MAX, and returns their number.
// Castling may be written as king takes rook, as the format says, or as e1g1, as in some books.
int polyglot_moves(const PolyglotBook *book, const Position *pos, PolyglotMove out[MOVES_MAX]);

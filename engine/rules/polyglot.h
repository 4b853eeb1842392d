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

// The published key of a position. Where a double step can be answered en passant only by a pinned
// pawn it differs from Polyglot's, which does not look whether the capture is legal.
Key polyglot_key(const Position *pos);
// False where the bytes are no such book: an odd size, keys out of order.
bool polyglot_open(PolyglotBook *book, const void *data, size_t size, Refusal *err);
// The legal moves that the book has for `pos`, at most MOVES_MAX; returns how many. Castling counts
// as king takes rook, as the format says, and as e1g1, as some books have it.
int polyglot_moves(const PolyglotBook *book, const Position *pos, PolyglotMove out[MOVES_MAX]);

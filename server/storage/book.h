// Opening books. A book is installed once (book_install.h), as a blob with one opening on each line
// ("FEN<tab>moves\n"), and read from a file mapped into memory. Two pairs of a test have the same
// opening only when the book has no unused opening left: pair i takes line book_order(seed, i mod
// size).
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "server/common/error.h"
#include "server/common/str.h"
#include "server/db/db.h"

// The order in which a test plays the openings of its book: element i of the seed's permutation of
// 0 … size-1. It is a Feistel network over the next even power of two, repeated until the value is
// below `size`. Pure; the result is the same on every machine and never changes.
uint64_t book_order(uint64_t seed, uint64_t i, uint64_t size);

// Bytes of an opening as JSON: a FEN and the 16 moves that are taken of a game.
enum { OPENING_TEXT_MAX = 512 };

// Appends the openings of pairs [first, first + count) as the text of a JSON array of
// {"fen","moves"}. Thousands of JSON objects would cost the loop milliseconds; text does not. The
// mapped file stays in memory as long as the process runs. Any thread.
bool book_openings(const char *data, const char *blob, int64_t seed, int64_t first, int64_t count,
                   Str *out, Error *err);
void book_cache_clear(void);
// The same of a book in memory, which is borrowed.
typedef struct Book Book;
Book *book_new(const char *text, size_t size); // no lines if it has 4 GiB
void book_free(Book **book);                   // for scope()
uint64_t book_size(const Book *book);
void book_deal(const Book *book, int64_t seed, int64_t first, int64_t count, Str *out);
// Appends the openings of some lines, from 0, in the same form. Any thread; it reads the whole
// file.
bool book_lines(const char *data, const char *blob, const int64_t *lines, int count, Str *out,
                Error *err);

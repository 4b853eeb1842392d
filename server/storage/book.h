// Opening books: installed once as a blob with one opening a line ("FEN<tab>moves\n"), dealt from
// a file mapped into memory. No pair shares an opening with another until the book is spent: pair
// i takes line book_order(seed, i mod size).
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "server/common/error.h"
#include "server/common/str.h"
#include "server/db/db.h"

enum { BOOK_PLIES_DEFAULT = 16 };
enum { BOOK_FILE_MAX = 256 << 20, BOOK_LINE_MAX = 4096 };

typedef struct BookText {
    Str lines;
    int64_t openings;
    bool chess960, is_pgn;
} BookText;

// Reads EPD or PGN (told by the first character that is not blank: '[' begins a PGN game) into
// lines. Of a PGN game the first `plies` half-moves are taken. False: 422 `bad_book` naming line
// and reason. `out` is released by the caller either way.
bool book_read(const char *text, size_t size, int plies, BookText *out, Error *err);
void book_text_release(BookText *book);

// Reads the file at `path`, stores it under DATA and in `books`. Returns its id, 0 on error (a name
// that the engine has already: 409). Call inside a transaction of a writer.
int64_t book_install(Db *db, const char *data, int64_t engine_id, const char *path,
                     const char *name, double now, Error *err);

// Element i of the seed's permutation of 0 … size-1: a Feistel network over the next even power of
// two, walked until it falls inside. Pure, the same on every machine for ever.
uint64_t book_order(uint64_t seed, uint64_t i, uint64_t size);

// Appends the openings of pairs [first, first + count) as the text of a JSON array of
// {"fen","moves"}: as objects, thousands of them would cost the loop milliseconds. The book's map
// is kept for the life of the process. Loop thread only.
bool book_openings(const char *data, const char *blob, int64_t seed, int64_t first, int64_t count,
                   Str *out, Error *err);
void book_cache_clear(void);

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

// Reads the file at `path`, stores it under DATA and in `books`. Returns its id, 0 on error (a name
// that the engine has already: 409). Call inside a transaction of a writer.
int64_t book_install(Db *db, const char *data, int64_t engine_id, const char *path,
                     const char *name, double now, Error *err);

// Appends the openings of pairs [first, first + count) as the text of a JSON array of
// {"fen","moves"}: as objects, thousands of them would cost the loop milliseconds. The book's map
// is kept for the life of the process. Loop thread only.
bool book_openings(const char *data, const char *blob, int64_t seed, int64_t first, int64_t count,
                   Str *out, Error *err);
void book_cache_clear(void);

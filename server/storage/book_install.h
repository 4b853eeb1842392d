// How a book comes in: by the web, by the API, by a command. A book is checked and stored as a blob
// first, which may take seconds, and becomes a row in one step. So nothing of a book that is
// refused is ever seen.
#pragma once

#include "server/common/hash.h"
#include "server/db/db.h"
#include "server/storage/book_read.h"

enum { BOOK_NAME_MAX = 100, BOOK_PLIES_DEFAULT = 16 };

typedef struct NewBook {
    char name[BOOK_NAME_MAX + 1], sha[SHA256_HEX_MAX];
    size_t size; // of its blob
    int64_t openings, duplicates;
    bool chess960, is_pgn;
} NewBook;

// Checks a file, packed or not, and stores the blob, to which no row refers yet. `variant` as in
// book_read(). False: 413, or 422 `bad_book` or `bad_field` (an unknown variant). On a reader
// thread, or in a command outside a transaction. The name was checked.
bool book_prepare(const char *data, const char *bytes, size_t size, const char *name,
                  const char *variant, NewBook *out, Error *err);
// The same for a file of the operator, which may also be a file of walks (engine/book/walks.h).
bool book_prepare_file(const char *data, const char *path, const char *name, const char *variant,
                       NewBook *out, Error *err);
// What was added, in one line for people. New.
char *book_words(const NewBook *book, const char *engine);
// Whether a book of the engine can have the name; else 422 `bad_field` (it is no line of 1 to 100
// characters) or 409 `book_exists`. Asked before a file is read, and again with the row.
bool book_name_check(Db *db, int64_t engine, const char *name, Error *err);
// Writes the row, inside a writer's transaction. `user` 0: the operator. Returns the book's id; 0:
// the error.
int64_t book_store(Db *db, int64_t engine, const NewBook *book, int64_t user, double now,
                   Error *err);

// See book_install.h.
#include "server/storage/book_install.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/book/walks.h"
#include "engine/rules/position.h"
#include "server/common/file.h"
#include "server/common/one_line.h"
#include "server/storage/blob.h"
#include "server/storage/book_unpack.h"
#include "sql/tests.h"
#include "sql/worker.h"

// ---- checking -----------------------------------------------------------------------------------

static bool variant_check(const char *variant, Error *err) {
    return !*variant || strcmp(variant, "standard") == 0 || strcmp(variant, "chess960") == 0 ||
           error_field(err, 422, "bad_field", "variant", "variant: is standard or chess960");
}

bool book_prepare(const char *data, const char *bytes, size_t size, const char *name,
                  const char *variant, NewBook *out, Error *err) {
    size_t text_size;
    *out = (NewBook){0};
    if (!variant_check(variant, err))
        return false;
    snprintf(out->name, sizeof out->name, "%s", name);
    rules_init();
    BookText book scope(book_text_release) = {0};
    char *text scope(free_ptr) = book_unpack(bytes, size, BOOK_FILE_MAX, &text_size, err);
    if (!text || !book_read(text, text_size, BOOK_PLIES_DEFAULT, variant, &book, err))
        return error_prefix(err, "book %s", name);
    out->size = book.lines.size;
    out->openings = book.openings;
    out->duplicates = book.duplicates;
    out->chess960 = book.chess960;
    out->is_pgn = book.is_pgn;
    return blob_put(data, book.lines.data, book.lines.size, out->sha, err);
}

// The text of a file of walks is the book that it stands for.
static char *bytes_of(const char *path, size_t *size, Error *err) {
    Refusal why;
    Walks walks scope(walks_release) = {0};
    char *text = file_read(path, BOOK_FILE_MAX, size, err);
    if (!text || strncmp(text, WALKS_MAGIC, strlen(WALKS_MAGIC)) != 0)
        return text;
    rules_init();
    char *book = walks_read(text, *size, &walks, &why) ? walks_expand(&walks, size, &why) : NULL;
    free(text);
    if (!book)
        error_set(err, 422, "bad_book", "%s: %s", path, why.message);
    return book;
}

bool book_prepare_file(const char *data, const char *path, const char *name, const char *variant,
                       NewBook *out, Error *err) {
    size_t size;
    char *bytes scope(free_ptr) = bytes_of(path, &size, err);
    return bytes && book_prepare(data, bytes, size, name, variant, out, err);
}

char *book_words(const NewBook *book, const char *engine) {
    return xasprintf("%s: book %s, %" PRId64 " openings%s, %" PRId64 " left out", engine,
                     book->name, book->openings, book->chess960 ? ", Chess960" : "",
                     book->duplicates);
}

// ---- rows ---------------------------------------------------------------------------------------

bool book_name_check(Db *db, int64_t engine, const char *name, Error *err) {
    SqlBookByName known;
    if (!one_line_check("name", name, 1, BOOK_NAME_MAX, err))
        return false;
    return !sql_book_by_name(db, &known, .engine = engine, .name = name) ||
           error_field(err, 409, "book_exists", "name", "name: the engine has a book %s already",
                       name);
}

int64_t book_store(Db *db, int64_t engine, const NewBook *book, int64_t user, double now,
                   Error *err) {
    if (!book_name_check(db, engine, book->name, err) ||
        !blob_note(db, book->sha, book->size, "book", now, err) ||
        !sql_book_add(db, err, .engine = engine, .name = book->name, .sha256 = book->sha,
                      .format = book->is_pgn ? "pgn" : "epd", .openings = book->openings,
                      .duplicates = book->duplicates, .chess960 = book->chess960,
                      .user = user ? &user : NULL, .created = now))
        return 0;
    return db_last_id(db);
}

// The documents of books: the list, and one book with the openings that were played most often. The
// openings of a book that has many results are counted at most once a minute.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/pages/doc.h"
#include "server/pages/opening_results.h"
#include "server/storage/book.h"
#include "sql/books.h"
#include "sql/core.h"

enum { SHOWN_OPENINGS = 50 };

// ---- the list -----------------------------------------------------------------------------------

static void add_share(json_t *item) {
    double pairs = member_real(item, "pairs"), decisive = member_real(item, "decisive");
    json_object_set_new(item, "decisive_share",
                        pairs > 0 ? json_real(decisive / pairs) : json_null());
}

static json_t *engines_of(const DocContext *ctx, bool *may_upload) {
    json_t *engine, *engines = sql_page_book_engines(ctx->db);
    size_t i;
    *may_upload = false;
    json_array_foreach (engines, i, engine) {
        bool may = ctx->viewer->user_id &&
                   viewer_has_role(ctx->db, ctx->viewer, member_int(engine, "id"), "maintainer");
        json_object_set_new(engine, "may_upload", json_boolean(may));
        *may_upload |= may;
    }
    return engines;
}

json_t *doc_books(const DocContext *ctx) {
    size_t i;
    bool may_upload;
    json_t *book, *items = sql_books_listed(ctx->db, 0);
    json_array_foreach (items, i, book)
        add_share(book);
    json_t *engines = engines_of(ctx, &may_upload);
    return json_pack("{s:o, s:o, s:b}", "items", items, "engines", engines, "may_upload",
                     (int)may_upload);
}

// ---- one book -----------------------------------------------------------------------------------

// The openings with their results, or NULL if the book is not on disk.
static json_t *played_openings(const DocContext *ctx, const char *blob,
                               const OpeningResults *results, Error *err) {
    int64_t lines[SHOWN_OPENINGS] = {0};
    int count = 0;
    Str text scope(str_release);
    str_init(&text, 1 << 20);
    for (; count < SHOWN_OPENINGS && count < results->count; count++)
        lines[count] = results->items[count].number;
    if (!book_lines(ctx->data, blob, lines, count, &text, err))
        return NULL;
    json_t *opening, *openings = json_loads(text.data, 0, NULL);
    size_t i;
    json_array_foreach (openings, i, opening) {
        json_object_set_new(opening, "number", json_integer(lines[i] + 1));
        json_object_set_new(opening, "pairs", json_integer(results->items[i].pairs));
        json_object_set_new(opening, "decisive", json_integer(results->items[i].decisive));
        add_share(opening);
    }
    return openings;
}

static json_t *count_openings(const DocContext *ctx, const json_t *book, Error *err) {
    OpeningResults results scope(opening_results_release);
    int64_t never = 0;
    opening_results(ctx->db, member_int(book, "id"), member_int(book, "openings"), &results);
    for (int64_t i = 0; i < results.count; i++)
        never += results.items[i].decisive == 0;
    json_t *openings = played_openings(ctx, member_text(book, "sha256"), &results, err);
    return openings
               ? json_pack("{s:I, s:b, s:I, s:I, s:o}", "pairs", (json_int_t)results.pairs,
                           "partial", (int)results.partial, "openings", (json_int_t)results.count,
                           "never_decisive", (json_int_t)never, "items", openings)
               : NULL;
}

json_t *doc_book(const DocContext *ctx, int64_t id, Error *err) {
    char key[64];
    json_auto_t *found = id > 0 ? sql_books_listed(ctx->db, id) : json_array();
    json_t *book = json_array_get(found, 0);
    if (!book)
        return doc_missing(err, "book", id);
    snprintf(key, sizeof key, "book %" PRId64 " %.0f", id, ctx->now / 60);
    json_t *played = doc_kept(ctx, key, true);
    if (!played && (played = count_openings(ctx, book, err)))
        doc_keep(ctx, key, true, played);
    if (!played)
        return NULL;
    add_share(book);
    return json_pack("{s:O, s:o}", "book", book, "played", played);
}

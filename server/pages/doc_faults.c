// Documents of faults: games that an engine lost by crash, stall, illegal move or on time, with
// what their workers kept of them.
#include <math.h>
#include <string.h>

#include "server/common/hash.h"
#include "server/common/json_member.h"
#include "server/pages/doc.h"
#include "sql/pages.h"

enum { NEWEST = 5, CONTENT_MAX = 1 << 20 }; // a fault report is smaller, expanded

json_t *doc_fault_counts(const DocContext *ctx, int64_t test) {
    json_t *counts = sql_page_fault_counts(ctx->db, test), *count;
    size_t i;
    int64_t total = 0, kept = 0;
    json_array_foreach (counts, i, count) {
        total += member_int(count, "count");
        kept += member_int(count, "kept");
        json_object_del(count, "kept");
    }
    return json_pack("{s:I, s:I, s:o}", "total", (json_int_t)total, "kept", (json_int_t)kept,
                     "counts", counts);
}

json_t *doc_faults_short(const DocContext *ctx, int64_t test) {
    json_t *faults = doc_fault_counts(ctx, test);
    json_object_set_new(
        faults, "items",
        sql_page_faults_of_test(ctx->db, .test = test, .before = INT64_MAX, .limit = NEWEST));
    return faults;
}

json_t *doc_faults(const DocContext *ctx, int64_t test, Error *err) {
    double time;
    int64_t id;
    int limit = doc_limit(ctx);
    char *title scope(free_ptr) = sql_page_title(ctx->db, test);
    if (!title)
        return doc_missing(err, "test", test);
    if (!doc_cursor_read(ctx, &time, &id, err))
        return NULL;
    json_t *document = doc_fault_counts(ctx, test);
    json_t *items = sql_page_faults_of_test(ctx->db, .test = test, .before = id, .limit = limit);
    size_t size = json_array_size(items);
    const json_t *last = json_array_get(items, size ? size - 1 : 0);
    json_object_set_new(document, "test",
                        json_pack("{s:I, s:s}", "id", (json_int_t)test, "title", title));
    json_object_set_new(document, "items", items);
    json_object_set_new(document, "next",
                        (int)size < limit
                            ? json_null()
                            : doc_cursor(member_real(last, "created"), member_int(last, "id")));
    return document;
}

// {"pgn", "protocol_log", "errors"} as kept.
static json_t *content_of(const DocContext *ctx, int64_t id, Error *err) {
    Str text scope(str_release);
    str_init(&text, CONTENT_MAX);
    SqlPageFaultContentRows rows scope(sql_rows_end) = sql_page_fault_content(ctx->db, id);
    bool good = sql_page_fault_content_next(&rows) &&
                zstd_decompress(rows.row.content.data, rows.row.content.size, &text, err);
    json_t *content = good ? json_loadb(text.data, text.size, 0, NULL) : NULL;
    if (!content)
        error_set(err, 500, "internal", "what was kept of fault %lld cannot be read",
                  (long long)id);
    return content;
}

json_t *doc_fault(const DocContext *ctx, int64_t id, Error *err) {
    json_t *fault = sql_page_fault(ctx->db, id);
    if (!fault)
        return doc_missing(err, "fault", id);
    json_t *document = content_of(ctx, id, err);
    if (document)
        json_object_set(document, "fault", fault);
    json_decref(fault);
    return document;
}

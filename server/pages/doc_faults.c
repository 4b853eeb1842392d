// Documents of faults: games that an engine lost by crash, stall, illegal move or on time, with
// what their workers kept of them.
#include <math.h>
#include <string.h>

#include "server/common/hash.h"
#include "server/common/json_member.h"
#include "server/pages/doc.h"
#include "server/routes/worker.h"

enum { NEWEST = 5 };

json_t *doc_fault_counts(Request *req, int64_t test) {
    json_t *counts = db_rows(req->turn->db, SQL_PAGE_FAULT_COUNTS, "i", test), *count;
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

static json_t *items_before(Request *req, int64_t test, int64_t id, int limit) {
    json_t *items =
        db_rows(req->turn->db, SQL_PAGE_FAULTS_OF_TEST, "iii", test, id, (int64_t)limit);
    return doc_booleans(items, "overloaded");
}

json_t *doc_faults_short(Request *req, int64_t test) {
    json_t *faults = doc_fault_counts(req, test);
    json_object_set_new(faults, "items", items_before(req, test, INT64_MAX, NEWEST));
    return faults;
}

json_t *doc_faults(Request *req, Error *err) {
    double time;
    int64_t id, test = request_id(req, 0);
    int limit = doc_limit(req);
    char *title scope(free_ptr) = db_text(req->turn->db, SQL_PAGE_TITLE, "i", test);
    if (!title)
        return error_set(err, 404, "no_such_test", "there is no test %s", req->params[0]), NULL;
    if (!doc_cursor_read(req, &time, &id, err))
        return NULL;
    json_t *document = doc_fault_counts(req, test), *items = items_before(req, test, id, limit);
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
static json_t *content_of(Request *req, int64_t id, Error *err) {
    Str text scope(str_release);
    size_t size;
    bool good = false;
    str_init(&text, 2 * FAULT_REPORT_MAX);
    Query q = query(req->turn->db, SQL_PAGE_FAULT_CONTENT, "i", id);
    if (query_step(&q)) {
        const void *bytes = query_blob(&q, 0, &size);
        good = zstd_decompress(bytes, size, &text, err);
        query_end(&q);
    }
    json_t *content = good ? json_loadb(text.data, text.size, 0, NULL) : NULL;
    if (!content)
        error_set(err, 500, "internal", "what was kept of fault %lld cannot be read",
                  (long long)id);
    return content;
}

json_t *doc_fault(Request *req, Error *err) {
    int64_t id = request_id(req, 0);
    json_t *fault = db_row(req->turn->db, SQL_PAGE_FAULT, "i", id);
    if (!fault)
        return error_set(err, 404, "no_such_fault", "there is no fault %s", req->params[0]), NULL;
    json_t *document = content_of(req, id, err);
    if (document)
        json_object_set(document, "fault", doc_booleans(fault, "overloaded"));
    json_decref(fault);
    return document;
}

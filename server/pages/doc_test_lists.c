// Lists of tests: those in one open state whole, the finished ones page by page with filters.
#include <string.h>

#include "server/common/json_member.h"
#include "server/pages/doc.h"
#include "sql/pages.h"

enum { SCAN_MAX = 5000 }; // rows read for one page, if few pass the filter

typedef struct Filter {
    const char *color;
    bool ltc;
} Filter;

static bool passes(const Filter *filter, const json_t *test) {
    const char *color = json_string_value(json_object_get(json_object_get(test, "stats"), "color"));
    return (!*filter->color || (color && strcmp(color, filter->color) == 0)) &&
           (!filter->ltc || json_is_true(json_object_get(test, "ltc")));
}

// Colour and length of the clock are computed here, as for pages, and not a
// second time in SQL. Returns the cursor of the next page.
static json_t *take_finished(const DocContext *ctx, double before, int64_t before_id,
                             const Filter *filter, json_t *items) {
    int limit = doc_limit(ctx);
    for (int scanned = 0; scanned < SCAN_MAX; scanned += limit) {
        json_auto_t *rows = sql_page_tests_finished(
            ctx->db, .before = before, .before_id = before_id, .user_name = doc_query(ctx, "user"),
            .text = doc_query(ctx, "text"), .limit = limit);
        json_t *row;
        size_t i;
        json_array_foreach (rows, i, row) {
            json_auto_t *test = doc_test_summary(ctx, row);
            before = member_real(row, "finished");
            before_id = member_int(row, "id");
            if (passes(filter, test))
                json_array_append(items, test);
            if ((int)json_array_size(items) == limit)
                return doc_cursor(before, before_id);
        }
        if ((int)json_array_size(rows) < limit)
            return json_null();
    }
    return doc_cursor(before, before_id);
}

static bool is_color(const char *text) {
    static const char *const colors[] = {"", "green", "red", "yellow", "blue", "grey"};
    for (size_t i = 0; i < sizeof colors / sizeof *colors; i++)
        if (strcmp(text, colors[i]) == 0)
            return true;
    return false;
}

static json_t *finished(const DocContext *ctx, Error *err) {
    double time;
    int64_t id;
    Filter filter = {doc_query(ctx, "color"), *doc_query(ctx, "ltc") == '1'};
    if (!doc_cursor_read(ctx, &time, &id, err))
        return NULL;
    if (!is_color(filter.color)) {
        error_field(err, 422, "bad_field", "color",
                    "color: one of green, red, yellow, blue and grey");
        return NULL;
    }
    json_t *items = json_array(), *next = take_finished(ctx, time, id, &filter, items);
    return json_pack("{s:o, s:o, s:{s:s, s:b, s:s, s:s}}", "items", items, "next", next, "filter",
                     "color", filter.color, "ltc", filter.ltc, "user", doc_query(ctx, "user"),
                     "text", doc_query(ctx, "text"));
}

json_t *doc_tests(const DocContext *ctx, Error *err) {
    const char *state = doc_query(ctx, "state");
    if (!*state || strcmp(state, "finished") == 0)
        return finished(ctx, err);
    if (strcmp(state, "pending") && strcmp(state, "active") && strcmp(state, "paused")) {
        error_field(err, 422, "bad_field", "state",
                    "state: one of pending, active, paused and finished");
        return NULL;
    }
    return json_pack("{s:o, s:n}", "items", doc_tests_in_state(ctx, state), "next");
}

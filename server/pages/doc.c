// The parts that documents share, and the document of the home page. See doc.h.
#include "server/pages/doc.h"
#include "server/pages/statistics.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/accounts/machine.h"
#include "server/common/json_member.h"
#include "server/common/time_control.h"
#include "server/ledger/verdict_mark.h"
#include "sql/pages.h"

// ---- parts --------------------------------------------------------------------------------------

json_t *doc_missing(Error *err, const char *what, int64_t id) {
    char *code scope(free_ptr) = xasprintf("no_such_%s", what);
    if (id)
        error_set(err, 404, code, "there is no %s %lld", what, (long long)id);
    else
        error_set(err, 404, code, "there is no such %s", what);
    return NULL;
}

const char *doc_query(const DocContext *ctx, const char *name) {
    const Param *pair = ctx->query ? params_find(ctx->query, name) : NULL;
    return pair ? pair->value : "";
}

int doc_limit(const DocContext *ctx) {
    long limit = DOC_PAGE_SIZE;
    const char *text = doc_query(ctx, "limit");
    if (*text && !parse_long(text, 1, DOC_PAGE_SIZE_MAX, &limit))
        limit = DOC_PAGE_SIZE;
    return (int)limit;
}

json_t *doc_cursor(double time, int64_t id) {
    char text[64];
    snprintf(text, sizeof text, "%.17g:%lld", time, (long long)id);
    return json_string(text);
}

bool doc_cursor_read(const DocContext *ctx, double *time, int64_t *id, Error *err) {
    const char *text = doc_query(ctx, "before");
    long last = 0;
    *time = DBL_MAX;
    *id = INT64_MAX;
    if (!*text)
        return true;
    const char *colon = strchr(text, ':');
    char *first scope(free_ptr) = xstrndup(text, colon ? (size_t)(colon - text) : 0);
    bool good = colon && parse_double(first, -1e18, 1e18, time) &&
                parse_long(colon + 1, 0, INT64_MAX, &last);
    *id = last;
    return good || error_field(err, 422, "bad_cursor", "before",
                               "before: give the `next` of an earlier answer, unchanged");
}

void doc_copy(json_t *to, const json_t *from, const char *names) {
    while (*names) {
        size_t size = strcspn(names, " ");
        char *name scope(free_ptr) = xstrndup(names, size);
        json_t *value = json_object_get(from, name);
        json_object_set_new(to, name, value ? json_incref(value) : json_null());
        names += size + strspn(names + size, " ");
    }
}

// ---- documents that are kept --------------------------------------------------------------------

enum { KEPT_MAX = 8 << 20 };

static unsigned long version_of(const DocContext *ctx, bool lasts) {
    return lasts ? 0 : ctx->cache_version;
}

json_t *doc_kept(const DocContext *ctx, const char *key, bool lasts) {
    Str text scope(str_release);
    str_init(&text, KEPT_MAX);
    if (!ctx->cache || !cache_get(ctx->cache, key, version_of(ctx, lasts), &text))
        return NULL;
    return json_loadb(text.data, text.size, JSON_ALLOW_NUL, NULL);
}

bool doc_kept_text(const DocContext *ctx, const char *key, Str *out) {
    return ctx->cache && cache_get(ctx->cache, key, 0, out);
}

void doc_keep(const DocContext *ctx, const char *key, bool lasts, const json_t *document) {
    char *text scope(free_ptr) = ctx->cache && document ? json_dumps(document, JSON_COMPACT) : NULL;
    if (text)
        cache_put(ctx->cache, key, version_of(ctx, lasts), text, strlen(text));
}

// ---- tests --------------------------------------------------------------------------------------

// Games per minute are those of the last half hour of a test, or the last ten minutes of all tests.
// How a page shows a rate is for the page to say, not for the operator.
enum { TEST_RATE_PERIOD_S = 1800, RATE_PERIOD_S = 600 };

// Games a minute: now, or from start to end of a finished test.
static double rate_of(const DocContext *ctx, const json_t *row) {
    double started = member_real(row, "started");
    double finished = member_real(row, "finished");
    double games = 2 * member_real(row, "units_counted");
    if (finished > started && started > 0)
        return games * 60 / (finished - started);
    if (strcmp(member_text(row, "state"), "active") != 0)
        return 0;
    return sql_page_rate_of_test(ctx->db, 0, .test = member_int(row, "id"), .now = ctx->now,
                                 .period = TEST_RATE_PERIOD_S);
}

static bool is_long(const json_t *row) {
    TimeControl tc;
    Error ignored;
    int threads = (int)member_int(row, "threads");
    return tc_parse(member_text(row, "tc"), &tc, &ignored) && tc_ratio(&tc, threads) > 4;
}

json_t *doc_test_summary(const DocContext *ctx, const json_t *row) {
    json_t *test = json_object();
    double rate = rate_of(ctx, row);
    doc_copy(
        test, row,
        "id title author engine state result reason workload tc threads priority created started "
        "finished cores machines merged_commit retest_of trial_of");
    json_object_set_new(test, "ltc", json_boolean(is_long(row)));
    json_object_set_new(test, "games_per_minute", json_real(rate));
    json_object_set_new(test, "stats", statistics_document(row, 60 * rate));
    return test;
}

json_t *doc_tests_in_state(const DocContext *ctx, const char *state) {
    json_auto_t *rows = sql_page_tests_in_state(ctx->db, state);
    json_t *tests = json_array(), *row;
    size_t i;
    json_array_foreach (rows, i, row)
        json_array_append_new(tests, doc_test_summary(ctx, row));
    return tests;
}

// ---- home ---------------------------------------------------------------------------------------

enum { HOME_FINISHED = 15, HOME_MACHINES = 20, TOUCHED_PERIOD_S = 30 * 86400 };

static json_t *recently_finished(const DocContext *ctx) {
    json_auto_t *rows =
        sql_page_tests_finished(ctx->db, .before = DBL_MAX, .before_id = INT64_MAX, .user_name = "",
                                .text = "", .limit = HOME_FINISHED);
    json_t *tests = json_array(), *row;
    size_t i;
    json_array_foreach (rows, i, row)
        json_array_append_new(tests, doc_test_summary(ctx, row));
    return tests;
}

static json_t *items(json_t *list) {
    return json_pack("{s:o}", "items", list);
}

json_t *doc_home(const DocContext *ctx) {
    json_t *totals = sql_page_totals(ctx->db, .now = ctx->now, .online_s = ONLINE_S);
    json_t *machines =
        sql_page_machines(ctx->db, .before = DBL_MAX, .before_id = INT64_MAX, .online = true,
                          .now = ctx->now, .online_s = ONLINE_S, .limit = HOME_MACHINES);
    if (!totals)
        totals = json_object();
    json_object_set_new(
        totals, "games_per_minute",
        json_real(sql_page_rate(ctx->db, 0, .now = ctx->now, .period = RATE_PERIOD_S)));
    json_t *document = json_pack("{s:o, s:o, s:o}", "totals", totals, "machines", items(machines),
                                 "engines", sql_page_engines(ctx->db));
    static const char *const states[] = {"pending", "paused", "active"};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        json_object_set_new(document, states[i], items(doc_tests_in_state(ctx, states[i])));
    json_object_set_new(document, "finished", items(recently_finished(ctx)));
    json_object_set_new(document, "touched",
                        items(verdicts_touched(ctx->db, ctx->now - TOUCHED_PERIOD_S)));
    return document;
}

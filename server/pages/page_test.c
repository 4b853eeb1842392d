// The page of one test: its document with charts, the history behind them, and the diff.
// See page.h.
#include <string.h>

#include "server/common/json_member.h"
#include "server/http/handler.h"
#include "server/pages/chart.h"
#include "server/pages/page.h"

// live.js reads a page again with this header and leaves the parts that never change as they are.
static bool is_live(Request *req) {
    return request_header(req, "X-Patchmate-Live") != NULL;
}

// Long files begin folded, except those that could do harm.
static void fold_files(json_t *diff) {
    enum { LONG_FILE = 400 };
    json_t *file;
    size_t i;
    json_array_foreach (json_object_get(diff, "files"), i, file) {
        json_int_t lines = member_int(file, "additions") + member_int(file, "deletions");
        bool risky = json_array_size(json_object_get(file, "risk")) > 0;
        const char *status = member_text(file, "status");
        const char *mode = member_text(file, "mode"), *old_mode = member_text(file, "old_mode");
        json_object_set_new(file, "folded", json_boolean(lines > LONG_FILE && !risky));
        json_object_set_new(file, "renamed", json_boolean(strcmp(status, "renamed") == 0));
        json_object_set_new(file, "mode_changed",
                            json_boolean(*mode && *old_mode && strcmp(mode, old_mode) != 0));
    }
}

// For the button Approve: whether this page shows the whole diff. Whether any page can is asked in
// submit/rights.c.
static json_t *what_is_shown(const json_t *diff) {
    const json_t *base = json_object_get(diff, "base_diff");
    bool cut = json_is_true(json_object_get(diff, "truncated")) ||
               json_is_true(json_object_get(base, "truncated"));
    int64_t unseen = member_int(diff, "unseen_files") + member_int(base, "unseen_files");
    return json_pack("{s:b, s:b, s:I}", "whole", !cut, "more", cut, "unseen", (json_int_t)unseen);
}

// A page that is read again needs the diff only for the button.
static bool add_diff(Request *req, json_t *document, Error *err) {
    if (!json_is_null(json_object_get(document, "patch_dropped")))
        return true;
    if (is_live(req) && strcmp(member_text(document, "state"), "pending") != 0)
        return true;
    DocContext ctx = page_context(req);
    json_auto_t *diff = doc_diff(&ctx, member_int(document, "id"), err);
    if (!diff)
        return false;
    fold_files(diff);
    fold_files(json_object_get(diff, "base_diff"));
    json_object_set_new(document, "shown", what_is_shown(diff));
    if (!is_live(req))
        json_object_set(document, "diff", diff);
    return true;
}

// Whether the units of the test are pairs of games. Only the statistics of these have pairs.
static bool plays_pairs(const json_t *document) {
    return json_object_get(json_object_get(document, "stats"), "ptnml") != NULL;
}

static bool add_charts(Request *req, json_t *document, Error *err) {
    DocContext ctx = page_context(req);
    const json_t *stats = json_object_get(document, "stats");
    json_t *history = doc_history(&ctx, member_int(document, "id"), err);
    if (!history)
        return false;
    json_object_set_new(document, "history", history);
    json_object_set_new(document, "bar", chart_progress(stats));
    if (!plays_pairs(document))
        return true;
    json_object_set_new(document, "charts",
                        json_pack("{s:o, s:o, s:o}", "llr", chart_llr(history, stats), "elo",
                                  chart_elo(history), "pairs", chart_pairs(stats)));
    return true;
}

// Each list that is not empty has a heading.
static void add_headings(json_t *merge) {
    size_t since = json_array_size(json_object_get(merge, "since"));
    char *count scope(free_ptr) = xasprintf("%zu commit%s", since, since == 1 ? "" : "s");
    bool missing = json_array_size(json_object_get(merge, "missing")) > 0;
    json_object_set_new(merge, "since_count", since ? json_string(count) : json_null());
    json_object_set_new(merge, "has_missing", json_boolean(missing));
}

bool page_test(Request *req, Response *res, json_t *document, Error *err) {
    __attribute__((unused)) json_auto_t *owned = document;
    if (!document || request_is_api(req))
        return page_serve(req, res, "test", "", json_incref(document));
    if (!add_charts(req, document, err) || !add_diff(req, document, err))
        return false;
    page_name_faults(json_object_get(document, "faults"));
    add_headings(json_object_get(json_object_get(document, "actions"), "merge"));
    bool played = json_array_size(json_object_get(document, "workers")) > 0;
    json_object_set_new(document, "played", json_boolean(played));
    json_object_set_new(document, "plays_pairs", json_boolean(plays_pairs(document)));
    const char *result = member_text(document, "result");
    bool decided = strcmp(result, "accepted") == 0 || strcmp(result, "rejected") == 0;
    json_object_set_new(document, "is_decided", json_boolean(decided));
    json_object_set_new(document, "is", json_pack("{s:b}", member_text(document, "state"), 1));
    char *title scope(free_ptr) = xasprintf("%s: test %lld", member_text(document, "title"),
                                            (long long)member_int(document, "id"));
    return page_serve(req, res, "test", title, json_incref(document));
}

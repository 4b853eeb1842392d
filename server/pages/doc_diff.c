// The document of what a test changes: the patch against its base, and the base against the
// baseline where the base is not in the baseline's history. Together they are everything that
// volunteers build and the engine's maintainers have not taken in. Commits never change, so that a
// diff is kept.
#include <string.h>

#include "server/common/json_member.h"
#include "server/git/repo.h"
#include "server/pages/doc.h"

// Against the nearest commit that the baseline's history has too: what was merged since is no part
// of what the base brings.
static json_t *base_diff(git_repository *repo, const json_t *row, DiffLimits limits, Error *err) {
    const char *base = member_text(row, "base_commit"), *baseline = member_text(row, "baseline");
    char from[REPO_SHA_MAX];
    if (repo_is_ancestor(repo, base, baseline))
        return json_null();
    if (!repo_common_ancestor(repo, base, baseline, from))
        snprintf(from, sizeof from, "%s", baseline);
    json_t *document = patch_document(repo, from, base, limits, err);
    if (document)
        json_object_set_new(document, "from", json_string(from));
    return document;
}

json_t *doc_diff_of(git_repository *repo, const json_t *row, DiffLimits limits, Error *err) {
    json_auto_t *document = patch_document(repo, member_text(row, "base_commit"),
                                           member_text(row, "new_commit"), limits, err);
    json_t *below = document ? base_diff(repo, row, limits, err) : NULL;
    if (!below)
        return NULL;
    json_object_set_new(document, "base_diff", below);
    return json_incref(document);
}

static json_t *row_of(Request *req, bool *whole, Error *err) {
    json_t *row = db_row(req->turn->db, SQL_PAGE_TEST, "i", request_id(req, 0));
    if (!row)
        error_set(err, 404, "no_such_test", "there is no test %s", req->params[0]);
    *whole = req->viewer.user_id && strcmp(doc_query(req, "diff"), "all") == 0;
    return row;
}

static char *key_of(const json_t *row, bool whole) {
    return xasprintf("diff %s %s %s %s %d", member_text(row, "engine"),
                     member_text(row, "baseline"), member_text(row, "base_commit"),
                     member_text(row, "new_commit"), whole);
}

bool doc_diff_kept(Request *req, Str *out) {
    Error err;
    bool whole;
    json_auto_t *row = row_of(req, &whole, &err);
    char *key scope(free_ptr) = row ? key_of(row, whole) : NULL;
    return key && request_cached_text(req, key, out);
}

json_t *doc_diff(Request *req, Error *err) {
    bool whole;
    json_auto_t *row = row_of(req, &whole, err);
    if (!row)
        return NULL;
    char *key scope(free_ptr) = key_of(row, whole);
    json_t *kept = request_cached(req, key, true);
    if (kept)
        return kept;
    git_repository *repo scope(repo_free) =
        repo_open(app_data(req->app), member_text(row, "engine"), err);
    json_t *diff = repo ? doc_diff_of(repo, row, whole ? DIFF_WHOLE : DIFF_SHORT, err) : NULL;
    request_cache(req, key, true, diff);
    return diff;
}

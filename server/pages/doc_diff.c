// The document of what a test changes: the patch against its base, and the base against the
// baseline where the base is not in the baseline's history. Together they are everything that
// volunteers build and the engine's maintainers have not taken in. Commits never change, so that a
// diff is kept.
#include <string.h>

#include "server/common/json_member.h"
#include "server/git/repo.h"
#include "server/pages/doc.h"
#include "server/patch/patch.h"

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
    DiffCommits commits = {member_text(row, "new_commit"), member_text(row, "base_commit"),
                           member_text(row, "baseline")};
    json_t *diff =
        repo ? patch_test_document(repo, &commits, whole ? DIFF_WHOLE : DIFF_SHORT, err) : NULL;
    request_cache(req, key, true, diff);
    return diff;
}

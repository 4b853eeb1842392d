// The document of what a test changes: the patch against its base, and the base against the
// baseline if the base is not in the baseline's history. Together they are everything that
// volunteers build and the engine's maintainers have not taken in. Commits never change, so that a
// diff is kept.
#include <string.h>

#include "server/common/json_member.h"
#include "server/git/repo.h"
#include "server/pages/doc.h"
#include "server/patch/patch.h"
#include "sql/pages.h"

static json_t *row_of(const DocContext *ctx, int64_t test, bool *whole, Error *err) {
    json_t *row = sql_page_test(ctx->db, test);
    if (!row)
        return doc_missing(err, "test", test);
    if (!json_is_null(json_object_get(row, "patch_dropped"))) {
        json_decref(row);
        return error_set(err, 404, "patch_dropped",
                         "the server no longer keeps the patch of test %lld, which was stopped and "
                         "not approved",
                         (long long)test),
               NULL;
    }
    *whole = ctx->viewer->user_id && strcmp(doc_query(ctx, "diff"), "all") == 0;
    return row;
}

static char *key_of(const json_t *row, bool whole) {
    return xasprintf("diff %s %s %s %s %d", member_text(row, "engine"),
                     member_text(row, "baseline"), member_text(row, "base_commit"),
                     member_text(row, "new_commit"), whole);
}

bool doc_diff_kept(const DocContext *ctx, int64_t test, Str *out) {
    Error err;
    bool whole = false;
    json_auto_t *row = row_of(ctx, test, &whole, &err);
    char *key scope(free_ptr) = row ? key_of(row, whole) : NULL;
    return key && doc_kept_text(ctx, key, out);
}

json_t *doc_diff(const DocContext *ctx, int64_t test, Error *err) {
    bool whole = false;
    json_auto_t *row = row_of(ctx, test, &whole, err);
    if (!row)
        return NULL;
    char *key scope(free_ptr) = key_of(row, whole);
    json_t *kept = doc_kept(ctx, key, true);
    if (kept)
        return kept;
    git_repository *repo scope(repo_free) = repo_open(ctx->data, member_text(row, "engine"), err);
    DiffCommits commits = {member_text(row, "new_commit"), member_text(row, "base_commit"),
                           member_text(row, "baseline")};
    json_t *diff =
        repo ? patch_test_document(repo, &commits, whole ? DIFF_WHOLE : DIFF_SHORT, err) : NULL;
    doc_keep(ctx, key, true, diff);
    return diff;
}

// See approve.h.
#include "server/submit/approve.h"

#include <stdlib.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/common/str.h"
#include "server/git/repo.h"
#include "server/ledger/ledger.h"
#include "server/patch/patch.h"
#include "server/submit/rights.h"
#include "server/submit/test_columns.h"

static git_repository *repo_of(const Caller *caller, const json_t *row, Error *err) {
    return repo_open(caller->data, member_text(row, "engine"), err);
}

static bool holds(const Caller *caller, const json_t *row, const Ground *ground, Error *err) {
    return ground_holds(caller->turn->db, ground, member_int(row, "engine_id"),
                        member_text(row, "base_commit"), err);
}

// ---- approving ----------------------------------------------------------------------------------

// The first file that the diff names and does not show.
static const json_t *unseen_file(const json_t *diff) {
    json_t *file;
    size_t i;
    json_array_foreach (json_object_get(diff, "files"), i, file) {
        if (json_is_object(json_object_get(file, "unseen")))
            return file;
    }
    return NULL;
}

static bool is_shown(const json_t *diff, bool unseen_too, Error *err) {
    if (json_is_true(json_object_get(diff, "truncated")))
        return error_set(err, 409, "diff_too_long",
                         "the diff has over %d lines or %zu MiB, more than the server shows; ask "
                         "for the change in several patches",
                         DIFF_WHOLE.lines, DIFF_WHOLE.bytes >> 20);
    const json_t *file = unseen_file(diff);
    const json_t *content = json_object_get(file, "unseen");
    return !file || unseen_too ||
           error_set(err, 409, "files_unseen",
                     "the diff does not show the bytes of %.200s (%lld bytes, SHA-256 %s); look at "
                     "them elsewhere and say so",
                     member_text(file, "path"), (long long)member_int(content, "size"),
                     member_text(content, "sha256"));
}

// An approval covers only what the approver can have seen.
static bool all_is_shown(git_repository *repo, const json_t *row, bool unseen_too, Error *err) {
    DiffCommits commits = {.patch = member_text(row, "new_commit"),
                           .base = member_text(row, "base_commit"),
                           .baseline = member_text(row, "baseline")};
    json_auto_t *diff = patch_test_document(repo, &commits, DIFF_WHOLE, err);
    const json_t *base = json_object_get(diff, "base_diff");
    return diff && is_shown(diff, unseen_too, err) &&
           (json_is_null(base) || is_shown(base, unseen_too, err));
}

bool submit_approve_prepare(const Caller *caller, int64_t test, bool unseen_too, Ground *ground,
                            Error *err) {
    json_auto_t *row = right_to(ACTION_APPROVE, caller, test, err);
    git_repository *repo scope(repo_free) = row ? repo_of(caller, row, err) : NULL;
    return repo && ground_of_test(caller->turn->db, repo, row, ground, err) &&
           all_is_shown(repo, row, unseen_too, err);
}

bool submit_approve(const Caller *caller, int64_t test, const Ground *ground, const char *seen,
                    Error *err) {
    char hash[SHA256_HEX_MAX];
    Db *db = caller->turn->db;
    json_auto_t *row = right_to(ACTION_APPROVE, caller, test, err);
    if (!row || !holds(caller, row, ground, err))
        return false;
    if (ground->in_baseline && !db_run(db, err, SQL_TEST_BASE_IN_BASELINE, "i", test))
        return false;
    if (!test_approval_hash(db, test, hash))
        return error_set(err, 500, "internal", "the test's commits are not all there");
    if (*seen && strcmp(seen, hash) != 0)
        return error_set(err, 409, "changed",
                         "the test was changed since you looked at it; look again");
    return ledger_test_activate(caller->turn, test, caller->viewer->user_id, hash, err);
}

// ---- resuming -----------------------------------------------------------------------------------

bool submit_resume_prepare(const Caller *caller, int64_t test, Ground *ground, Error *err) {
    json_auto_t *row = right_to(ACTION_RESUME, caller, test, err);
    git_repository *repo scope(repo_free) = row ? repo_of(caller, row, err) : NULL;
    return repo && ground_of_test(caller->turn->db, repo, row, ground, err);
}

bool submit_resume(const Caller *caller, int64_t test, const Ground *ground, Error *err) {
    json_auto_t *row = right_to(ACTION_RESUME, caller, test, err);
    if (!row || !holds(caller, row, ground, err))
        return false;
    if (ground->in_baseline && !db_run(caller->turn->db, err, SQL_TEST_BASE_IN_BASELINE, "i", test))
        return false;
    return ledger_test_resume(caller->turn, test, caller->viewer->user_id, err);
}

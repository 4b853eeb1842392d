// See approve.h.
#include "server/submit/approve.h"

#include <stdlib.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/common/str.h"
#include "server/git/snapshot.h"
#include "server/ledger/ledger.h"
#include "server/submit/review.h"
#include "server/submit/rights.h"
#include "server/submit/test_columns.h"
#include "sql/git.h"
#include "sql/tests.h"

static git_repository *repo_of(const Caller *caller, const json_t *row, Error *err) {
    return repo_open(caller->data, member_text(row, "engine"), err);
}

static bool holds(const Caller *caller, const json_t *row, const Ground *ground, Error *err) {
    return ground_holds(caller->turn->db, ground, member_int(row, "engine_id"),
                        member_text(row, "base_commit"), err);
}

// ---- approving ----------------------------------------------------------------------------------

// Workers may build both sides of an approved test.
static bool store_snapshots(const Caller *caller, git_repository *repo, const json_t *row,
                            Error *err) {
    static const char *const sides[] = {"new_commit", "base_commit"};
    for (size_t i = 0; i < 2; i++) {
        const char *sha = member_text(row, sides[i]);
        SqlCommitBySha commit scope(sql_row_free) = {0};
        if (!sql_commit_by_sha(caller->turn->db, &commit, .engine = member_int(row, "engine_id"),
                               .sha = sha))
            return error_set(err, 500, "internal", "the test's commits are not all there");
        if (!snapshot_store(repo, sha, commit.snapshot, caller->data, err))
            return false;
    }
    return true;
}

bool submit_approve_prepare(const Caller *caller, int64_t test, bool unseen_too, Ground *ground,
                            Error *err) {
    json_auto_t *row = right_to(ACTION_APPROVE, caller, test, err);
    git_repository *repo scope(repo_free) = row ? repo_of(caller, row, err) : NULL;
    return repo && ground_of_test(caller->turn->db, repo, row, ground, err) &&
           review_covers(repo, row, unseen_too, err) && store_snapshots(caller, repo, row, err);
}

bool submit_approve(const Caller *caller, int64_t test, const Ground *ground, const char *seen,
                    Error *err) {
    char hash[SHA256_HEX_MAX];
    Db *db = caller->turn->db;
    json_auto_t *row = right_to(ACTION_APPROVE, caller, test, err);
    if (!row || !holds(caller, row, ground, err))
        return false;
    if (ground->in_baseline && !sql_test_base_in_baseline(db, err, test))
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
    if (ground->in_baseline && !sql_test_base_in_baseline(caller->turn->db, err, test))
        return false;
    return ledger_test_resume(caller->turn, test, caller->viewer->user_id, err);
}

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

static bool holds(const Caller *caller, const SqlTestForChange *row, const Ground *ground,
                  Error *err) {
    return ground_holds(caller->turn->db, ground, row->engine_id, row->base_commit, err);
}

// ---- approving ----------------------------------------------------------------------------------

// Workers may build both sides of an approved test.
static bool store_snapshots(const Caller *caller, git_repository *repo, const SqlTestForChange *row,
                            Error *err) {
    const char *const commits[] = {row->new_commit, row->base_commit};
    for (size_t i = 0; i < 2; i++) {
        const char *sha = commits[i];
        SqlCommitBySha commit scope(sql_row_free) = {0};
        if (!sql_commit_by_sha(caller->turn->db, &commit, .engine = row->engine_id, .sha = sha))
            return error_set(err, 500, "internal", "the test's commits are not all there");
        if (!snapshot_store(repo, sha, commit.snapshot, caller->data, err))
            return false;
    }
    return true;
}

bool submit_approve_prepare(const Caller *caller, int64_t test, bool unseen_too, Ground *ground,
                            Error *err) {
    SqlTestForChange row scope(sql_row_free) = {0};
    git_repository *repo scope(repo_free) = right_to(ACTION_APPROVE, caller, test, &row, err)
                                                ? repo_open(caller->data, row.engine, err)
                                                : NULL;
    return repo && ground_of_test(caller->turn->db, repo, &row, ground, err) &&
           review_covers(repo, &row, unseen_too, err) && store_snapshots(caller, repo, &row, err);
}

bool submit_approve(const Caller *caller, int64_t test, const Ground *ground, const char *seen,
                    Error *err) {
    char hash[SHA256_HEX_MAX];
    Db *db = caller->turn->db;
    SqlTestForChange row scope(sql_row_free) = {0};
    if (!right_to(ACTION_APPROVE, caller, test, &row, err) || !holds(caller, &row, ground, err))
        return false;
    if (ground->in_baseline && !sql_base_grounded(db, err, test))
        return false;
    if (!test_approval_hash(db, test, hash))
        return error_set(err, 500, "internal", "the test's commits are not all there");
    if (*seen && strcmp(seen, hash) != 0)
        return error_set(err, 409, "changed",
                         "the test was changed since you looked at it; look again");
    return ledger_test_activate(caller->turn, test, caller->viewer->user_id, hash,
                                "approved, waits for workers", err);
}

// ---- resuming and reopening ---------------------------------------------------------------------

static bool prepare_again(Action action, const Caller *caller, int64_t test, Ground *ground,
                          Error *err) {
    SqlTestForChange row scope(sql_row_free) = {0};
    git_repository *repo scope(repo_free) =
        right_to(action, caller, test, &row, err) ? repo_open(caller->data, row.engine, err) : NULL;
    return repo && ground_of_test(caller->turn->db, repo, &row, ground, err);
}

static bool may_again(Action action, const Caller *caller, int64_t test, const Ground *ground,
                      Error *err) {
    SqlTestForChange row scope(sql_row_free) = {0};
    if (!right_to(action, caller, test, &row, err) || !holds(caller, &row, ground, err))
        return false;
    return !ground->in_baseline || sql_base_grounded(caller->turn->db, err, test);
}

bool submit_resume_prepare(const Caller *caller, int64_t test, Ground *ground, Error *err) {
    return prepare_again(ACTION_RESUME, caller, test, ground, err);
}

bool submit_resume(const Caller *caller, int64_t test, const Ground *ground, Error *err) {
    return may_again(ACTION_RESUME, caller, test, ground, err) &&
           ledger_test_resume(caller->turn, test, caller->viewer->user_id, err);
}

bool submit_reopen_prepare(const Caller *caller, int64_t test, Ground *ground, Error *err) {
    return prepare_again(ACTION_REOPEN, caller, test, ground, err);
}

bool submit_reopen(const Caller *caller, int64_t test, const Ground *ground, const char *reason,
                   Error *err) {
    return may_again(ACTION_REOPEN, caller, test, ground, err) &&
           ledger_test_reopen(caller->turn, test, caller->viewer->user_id, reason, err);
}

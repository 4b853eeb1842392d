// See approval.h.
#include "server/ledger/approval.h"

#include <string.h>

#include "server/common/json_member.h"
#include "server/git/repo.h"
#include "server/ledger/ledger.h"
#include "server/ledger/task.h"
#include "sql/tests.h"

// ---- bases --------------------------------------------------------------------------------------

bool approval_stands(Db *db, int64_t engine_id, const char *sha, Error *err) {
    if (sql_approval_of_commit(db, 0, .engine = engine_id, .commit = sha))
        return true;
    SqlApprovalMissing test scope(sql_row_free) = {0};
    if (!sql_approval_missing(db, &test, .engine = engine_id, .commit = sha))
        return error_set(err, 409, "base_not_approved",
                         "the base %.10s is neither in the history of the baseline nor the commit "
                         "of an approved test",
                         sha);
    if (test.approved)
        return error_set(err, 409, "base_not_approved",
                         "the base %.10s is the commit of test %lld, whose own base is no longer "
                         "approved",
                         sha, (long long)test.id);
    return error_set(err, 409, "base_not_approved",
                     "the base %.10s is the commit of test %lld, which %s", sha, (long long)test.id,
                     strcmp(test.state, "finished") == 0 ? "was never approved"
                                                         : "is not approved");
}

bool approval_base(Db *db, git_repository *repo, const SqlEngineById *engine, const char *sha,
                   bool *in_baseline, Error *err) {
    *in_baseline = repo_is_ancestor(repo, sha, engine->baseline);
    return *in_baseline || approval_stands(db, engine->id, sha, err);
}

bool approval_pause_others(Turn *turn, int64_t engine_id, Error *err) {
    SqlSidesUngroundedRows sides scope(sql_rows_end) = sql_sides_ungrounded(turn->db, engine_id);
    while (sql_sides_ungrounded_next(&sides)) {
        Error why;
        if (approval_stands(turn->db, engine_id, sides.row.sha, &why))
            continue;
        if (!test_suspend(turn, sides.row.id, why.message, err))
            return false;
    }
    return true;
}

// ---- harmful commits ----------------------------------------------------------------------------

bool approval_unharmed(Db *db, git_repository *repo, int64_t engine_id, const char *sha,
                       Error *err) {
    SqlHarmfulCommitsRows harmful scope(sql_rows_end) = sql_harmful_commits(db, engine_id);
    while (sql_harmful_commits_next(&harmful)) {
        if (repo_is_ancestor(repo, harmful.row.sha, sha))
            return error_set(err, 409, "harmful_commit",
                             "%.10s is built on the commit of test %lld, which was stopped as "
                             "harmful",
                             sha, (long long)harmful.row.id);
    }
    return true;
}

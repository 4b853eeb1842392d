// See approval.h.
#include "server/ledger/approval.h"

#include <string.h>

#include "server/common/json_member.h"
#include "server/git/repo.h"
#include "server/ledger/ledger.h"
#include "server/ledger/task.h"

// ---- bases --------------------------------------------------------------------------------------

bool approval_stands(Db *db, int64_t engine_id, const char *sha, Error *err) {
    if (db_int(db, SQL_APPROVAL_OF_COMMIT, 0, "is", engine_id, sha))
        return true;
    json_auto_t *test = db_row(db, SQL_APPROVAL_MISSING, "is", engine_id, sha);
    long long id = member_int(test, "id");
    if (!test)
        return error_set(err, 409, "base_not_approved",
                         "the base %.10s is neither in the history of the baseline nor the commit "
                         "of an approved test",
                         sha);
    if (member_int(test, "approved"))
        return error_set(err, 409, "base_not_approved",
                         "the base %.10s is the commit of test %lld, whose own base is no longer "
                         "approved",
                         sha, id);
    return error_set(err, 409, "base_not_approved",
                     "the base %.10s is the commit of test %lld, which %s", sha, id,
                     strcmp(member_text(test, "state"), "finished") == 0 ? "was never approved"
                                                                         : "is not approved");
}

bool approval_base(Db *db, git_repository *repo, const SqlEngineById *engine, const char *sha,
                   bool *in_baseline, Error *err) {
    *in_baseline = repo_is_ancestor(repo, sha, engine->baseline);
    return *in_baseline || approval_stands(db, engine->id, sha, err);
}

bool approval_pause_others(Turn *turn, int64_t engine_id, Error *err) {
    json_auto_t *tests = db_rows(turn->db, SQL_TESTS_OUTSIDE_BASELINE, "i", engine_id);
    json_t *test;
    size_t i;
    json_array_foreach (tests, i, test) {
        Error why;
        if (approval_stands(turn->db, engine_id, member_text(test, "base_commit"), &why))
            continue;
        if (!test_suspend(turn, member_int(test, "id"), why.message, err))
            return false;
    }
    return true;
}

// ---- harmful commits ----------------------------------------------------------------------------

bool approval_unharmed(Db *db, git_repository *repo, int64_t engine_id, const char *sha,
                       Error *err) {
    json_auto_t *harmful = db_rows(db, SQL_HARMFUL_COMMITS, "i", engine_id);
    json_t *test;
    size_t i;
    json_array_foreach (harmful, i, test) {
        if (repo_is_ancestor(repo, member_text(test, "new_commit"), sha))
            return error_set(err, 409, "harmful_commit",
                             "%.10s is built on the commit of test %lld, which was stopped as "
                             "harmful",
                             sha, (long long)member_int(test, "id"));
    }
    return true;
}

// See ground.h.
#include "server/submit/ground.h"

#include "server/common/json_member.h"
#include "server/common/str.h"
#include "server/git/repo.h"
#include "server/ledger/approval.h"
#include "sql/tests.h"

bool ground_of_base(Db *db, git_repository *repo, const SqlEngineById *engine, const char *base,
                    Ground *out, Error *err) {
    out->harmful = sql_harmful_count(db, 0, engine->id);
    return approval_unharmed(db, repo, engine->id, base, err) &&
           approval_base(db, repo, engine, base, &out->in_baseline, err);
}

bool ground_of_test(Db *db, git_repository *repo, const SqlTestForChange *row, Ground *out,
                    Error *err) {
    int64_t engine_id = row->engine_id;
    SqlEngineById engine scope(sql_row_free) = {0};
    if (!sql_engine_by_id(db, &engine, engine_id))
        return error_set(err, 500, "internal", "the test has no engine");
    return approval_unharmed(db, repo, engine_id, row->new_commit, err) &&
           ground_of_base(db, repo, &engine, row->base_commit, out, err);
}

bool ground_holds(Db *db, const Ground *ground, int64_t engine_id, const char *base, Error *err) {
    if (sql_harmful_count(db, 0, engine_id) != ground->harmful)
        return error_set(err, 409, "conflict", "a commit was called harmful just now; try again");
    return ground->in_baseline || approval_stands(db, engine_id, base, err);
}

bool ground_outside_baseline(git_repository *repo, const SqlTestForChange *row, Error *err) {
    const char *commit = row->new_commit;
    return !repo_is_ancestor(repo, commit, row->baseline) ||
           error_set(err, 409, "in_baseline",
                     "the commit %.10s of test %lld is in the history of the baseline, and so in "
                     "every test; stop the tests, and take the change out of the baseline",
                     commit, (long long)row->id);
}

// See trial.h.
#include "server/submit/trial.h"

#include <string.h>

#include "server/common/str.h"
#include "server/ledger/ledger.h"
#include "server/submit/branch_move.h"
#include "server/submit/fields.h"
#include "server/submit/merge_commit.h"
#include "server/submit/rights.h"
#include "server/submit/submit.h"
#include "server/submit/test_columns.h"
#include "sql/git.h"

// ---- the beginning ------------------------------------------------------------------------------

// A small book is played once: at fixed nodes no opening is played twice.
bool trial_fields(Submission *s, int64_t test, Error *err) {
    int64_t pairs = s->openings < TRIAL_PAIRS_MAX ? s->openings : TRIAL_PAIRS_MAX;
    int64_t batch = pairs < TRIAL_BATCH ? pairs : TRIAL_BATCH;
    char *title scope(free_ptr) = xasprintf("Trial of the merge of test %lld", (long long)test);
    char *tc scope(free_ptr) = xasprintf("nodes=%d", TRIAL_NODES);
    json_object_set_new(s->fields, "workload", json_string("fixed"));
    json_object_set_new(s->fields, "title", json_string(title));
    json_object_set_new(s->fields, "tc", json_string(tc));
    json_object_set_new(s->fields, "threads", json_integer(1));
    json_object_set_new(s->fields, "priority", json_integer(TRIAL_PRIORITY));
    json_object_set_new(s->fields, "batch_pairs", json_integer(batch));
    submit_set_pairs(s->fields, pairs - pairs % batch, batch);
    return submit_fields_check(s->fields, err);
}

int64_t trial_begin(const Caller *caller, Submission *s, int64_t test, int64_t approver,
                    Error *err) {
    char hash[SHA256_HEX_MAX];
    Db *db = caller->turn->db;
    s->retest_of = 0;
    int64_t trial = submit_store(caller, s, err);
    if (!trial || !sql_merge_trial_mark(db, err, .trial = trial, .test = test))
        return 0;
    char *words scope(free_ptr) =
        xasprintf("the approval of test %lld covers its merge: the server moved its change to the "
                  "new baseline, and each file has the same removed and added lines",
                  (long long)test);
    if (!test_approval_hash(db, trial, hash))
        return error_set(err, 500, "internal", "the trial's commits are not all there");
    return ledger_test_activate(caller->turn, trial, approver, hash, words, err) ? trial : 0;
}

bool trial_complete(Turn *turn, Error *err) {
    SqlMergeTrialPlayed row = {0};
    char reason[80];
    if (!sql_merge_trial_played(turn->db, &row, TRIAL_PAIRS))
        return true;
    snprintf(reason, sizeof reason, "bench %lld, and %lld games were played", (long long)row.bench,
             2 * (long long)row.units);
    return sql_merge_trial_limit(turn->db, err, .trial = row.trial, .pairs = row.units) &&
           ledger_test_finish(turn, row.trial, 0, "completed", "verdict", reason, err);
}

// ---- the end ------------------------------------------------------------------------------------

static bool has_passed(const SqlMergeTrialsEnded *row, Error *err) {
    long long trial = row->trial_id;
    if (strcmp(row->result, "completed") != 0)
        return error_set(err, 409, "trial_failed", "its trial, test %lld, %s: %.300s", trial,
                         strcmp(row->result, "failed") == 0 ? "failed" : "was stopped",
                         *row->reason ? row->reason : "no reason was given");
    if (row->crashes)
        return error_set(err, 409, "trial_failed",
                         "in its trial, test %lld, an engine crashed in %lld games", trial,
                         (long long)row->crashes);
    return row->has_bench || error_set(err, 409, "trial_failed",
                                       "the machines of its trial, test %lld, agreed on no bench "
                                       "count of the merged tree",
                                       trial);
}

// The commit with the count of the candidate's tree, recorded.
static bool make_commit(const Caller *caller, git_repository *repo, const SqlMergeTrialsEnded *row,
                        char sha[REPO_SHA_MAX], Error *err) {
    CommitRecord record scope(commit_record_release) = {0};
    SqlEngineById engine scope(sql_row_free) = {0};
    if (!sql_engine_by_id(caller->turn->db, &engine, row->engine_id))
        return error_set(err, 500, "internal", "the merge has no engine");
    NetRule rule = net_rule_of(&engine);
    return merge_commit_again(caller, repo, row->candidate, row->baseline, row->bench, sha, err) &&
           commit_prepare(repo, NULL, sha, &rule, &record, err) &&
           commit_record(caller->turn->db, row->engine_id, &record, caller->turn->now, err);
}

bool trial_end(const Caller *caller, const SqlMergeTrialsEnded *row, Error *err) {
    char sha[REPO_SHA_MAX];
    SqlTestForChange test scope(sql_row_free) = {0};
    if (!has_passed(row, err) || !right_to(ACTION_MERGE, caller, row->test_id, &test, err))
        return false;
    git_repository *repo scope(repo_free) = repo_open(caller->data, row->engine, err);
    BranchMove move = {.engine = row->engine_id,
                       .test = row->test_id,
                       .branch = row->branch,
                       .old = row->baseline,
                       .commit = sha};
    return repo && make_commit(caller, repo, row, sha, err) &&
           branch_move(caller, repo, &move, err);
}

// See undo.h.
#include "server/submit/undo.h"

#include <stdlib.h>
#include <string.h>

#include "server/common/str.h"
#include "server/ledger/ledger.h"
#include "server/submit/rights.h"
#include "sql/git.h"
#include "sql/merges.h"

void undo_free(void *pointer) {
    MergeUndo *undo = pointer;
    if (undo)
        commit_record_release(&undo->record);
    free(undo);
}

static char *message_of(Db *db, const SqlTestForChange *test) {
    Str out;
    str_init(&out, 1000);
    str_printf(&out, "Undo the merge of test %lld\n\nThe tree is that of %.10s again.\n",
               (long long)test->id, test->merged_onto);
    int64_t bench = sql_commit_bench(db, 0, .engine = test->engine_id, .sha = test->merged_onto);
    if (bench)
        str_printf(&out, "\nBench: %lld\n", (long long)bench);
    return str_steal(&out);
}

static bool make(const Caller *caller, const SqlTestForChange *test, MergeUndo *undo, Error *err) {
    Db *db = caller->turn->db;
    char sha[REPO_SHA_MAX];
    SqlEngineById engine scope(sql_row_free) = {0};
    git_repository *repo scope(repo_free) = repo_open(caller->data, test->engine, err);
    git_tree *tree scope(repo_tree_free) = NULL;
    if (!repo || !sql_engine_by_id(db, &engine, test->engine_id) ||
        !repo_commit_tree(repo, test->merged_onto, &tree, err))
        return false;
    NetRule rule = net_rule_of(&engine);
    char *message scope(free_ptr) = message_of(db, test);
    CommitSpec spec = {
        .tree = git_tree_id(tree), .parent = test->merged_commit, .message = message};
    return repo_commit_as(repo, caller->viewer->name, caller->turn->now, spec, sha, err) &&
           commit_prepare(repo, NULL, sha, &rule, &undo->record, err);
}

MergeUndo *submit_undo_prepare(const Caller *caller, int64_t test, Error *err) {
    SqlTestForChange row scope(sql_row_free) = {0};
    if (!right_to(ACTION_UNDO, caller, test, &row, err))
        return NULL;
    MergeUndo *undo = xcalloc(1, sizeof *undo);
    undo->test = test;
    snprintf(undo->merged, sizeof undo->merged, "%s", row.merged_commit);
    if (make(caller, &row, undo, err))
        return undo;
    undo_free(undo);
    return NULL;
}

// The reference last, as nothing but the COMMIT can fail after it.
bool submit_undo(const Caller *caller, const MergeUndo *undo, Error *err) {
    Turn *turn = caller->turn;
    const char *sha = undo->record.info.sha;
    SqlTestForChange row scope(sql_row_free) = {0};
    if (!right_to(ACTION_UNDO, caller, undo->test, &row, err))
        return false;
    git_repository *repo scope(repo_free) = repo_open(caller->data, row.engine, err);
    char *ref scope(free_ptr) = xasprintf("refs/heads/%s", row.branch);
    if (!repo || !commit_record(turn->db, row.engine_id, &undo->record, turn->now, err) ||
        !sql_engine_set_baseline(turn->db, err, .engine = row.engine_id, .baseline = sha,
                                 .old = undo->merged) ||
        !sql_merge_undone(turn->db, err, .test = undo->test, .now = turn->now))
        return false;
    turn_moves_git(turn);
    if (!repo_ref_set(repo, ref, sha, err))
        return false;
    ledger_event(turn, "undone", caller->viewer->user_id, 0, undo->test,
                 "%s has the tree of %.10s again", row.branch, row.merged_onto);
    turn_publish(turn, "test",
                 json_pack("{s:I, s:s}", "id", (json_int_t)undo->test, "state", "finished"));
    return true;
}

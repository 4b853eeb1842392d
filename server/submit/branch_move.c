// See branch_move.h.
#include "server/submit/branch_move.h"

#include "server/common/str.h"
#include "server/git/repo.h"
#include "server/ledger/ledger.h"
#include "sql/git.h"
#include "sql/tests.h"

// The reference last, as nothing but the COMMIT can fail after it.
bool branch_move(const Caller *caller, git_repository *repo, const BranchMove *move, Error *err) {
    Turn *turn = caller->turn;
    char *ref scope(free_ptr) = xasprintf("refs/heads/%s", move->branch);
    if (!sql_engine_set_baseline(turn->db, err, .engine = move->engine, .baseline = move->commit,
                                 .old = move->old))
        return false;
    if (db_changes(turn->db) != 1)
        return error_set(err, 409, "conflict", "the baseline has moved just now; try again");
    if (!sql_test_merged(turn->db, err, .test = move->test, .commit = move->commit,
                         .onto = move->old, .now = turn->now))
        return false;
    turn_moves_git(turn);
    if (!repo_ref_set(repo, ref, move->commit, err))
        return false;
    ledger_event(turn, "merged", caller->viewer->user_id, 0, move->test, "%s is now at %.10s",
                 move->branch, move->commit);
    turn_publish(turn, "test",
                 json_pack("{s:I, s:s, s:s}", "id", (json_int_t)move->test, "state", "finished",
                           "merged", move->commit));
    return true;
}

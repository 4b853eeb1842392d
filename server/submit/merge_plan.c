// See merge_plan.h. The objects of the merged tree are made in memory.
#include "server/submit/merge_plan.h"

#include <string.h>

#include "server/common/str.h"
#include "server/patch/same_lines.h"
#include "server/submit/merge.h"
#include "server/submit/merge_commit.h"
#include "server/submit/policy.h"
#include "server/submit/reapply.h"
#include "server/submit/untested.h"
#include "sql/git.h"

void merge_plan_release(MergePlan *plan) {
    json_decref(plan->since);
}

// The change on the present baseline, as a commit.
static bool rebase(const Caller *caller, git_repository *repo, const SqlTestForChange *test,
                   char sha[REPO_SHA_MAX], Error *err) {
    git_oid tree;
    return reapply_in_memory(repo, err) && reapply_tree(caller->turn->db, repo, test, &tree, err) &&
           merge_commit_make(caller, repo, test->new_commit, &tree, test->baseline, 0, sha, err);
}

// Why the change needs a new test; "": it needs none.
static void judge(const Caller *caller, git_repository *repo, const SqlTestForChange *test,
                  const char *commit, char why[PLAN_WHY_MAX]) {
    Db *db = caller->turn->db;
    SqlEngineById engine scope(sql_row_free) = {0};
    CommitRange seen = {test->base_commit, test->new_commit}, again = {test->baseline, commit};
    if (!merge_approver(db, test->id))
        snprintf(why, PLAN_WHY_MAX, "its approval no longer holds");
    else if (sql_engine_by_id(db, &engine, test->engine_id) &&
             patch_same_lines(repo, seen, again, engine.net_file, why))
        untested_fits(db, repo, test, policy_untested(db, test->engine_id), why);
}

bool merge_plan(const Caller *caller, const SqlTestForChange *test, MergePlan *plan, Error *err) {
    char sha[REPO_SHA_MAX];
    *plan = (MergePlan){0};
    git_repository *repo scope(repo_free) = repo_open(caller->data, test->engine, err);
    if (!repo)
        return false;
    plan->forward = !reapply_is_needed(repo, test);
    if (plan->forward)
        return true;
    plan->since = untested_since(caller->turn->db, repo, test, PLAN_SINCE_MAX);
    if (!rebase(caller, repo, test, sha, err))
        return false;
    judge(caller, repo, test, sha, plan->why);
    plan->trial = !*plan->why;
    return true;
}

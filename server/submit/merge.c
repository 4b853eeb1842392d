// See merge.h.
#include "server/submit/merge.h"

#include <stdlib.h>
#include <string.h>

#include "server/ledger/approval.h"
#include "server/ledger/ledger.h"
#include "server/ledger/verdict_mark.h"
#include "server/patch/same_lines.h"
#include "server/submit/branch_move.h"
#include "server/submit/fields.h"
#include "server/submit/merge_commit.h"
#include "server/submit/net_commit.h"
#include "server/submit/policy.h"
#include "server/submit/reapply.h"
#include "server/submit/rights.h"
#include "server/submit/submit.h"
#include "server/submit/test_columns.h"
#include "server/submit/trial.h"
#include "server/submit/untested.h"
#include "sql/merges.h"
#include "sql/tests.h"

struct Merge {
    MergeAsk ask;
    SqlTestForChange test;
    char baseline[REPO_SHA_MAX];  // as it was when the merge was prepared
    bool waits;                   // other merges of the engine are under way
    Submission *again;            // on the new baseline; NULL: the branch moves forward
    Submission *trial;            // the same as a trial; NULL: it needs a new test
    char lines[SAME_WHY_MAX];     // why the approval does not cover `again`; "": it may
    char apart[UNTESTED_WHY_MAX]; // why the change is not apart from what was merged; "": it is
    CommitRecord tip;             // with the net; info.sha "": the tested commit is the tip
    git_repository *repo;
    int64_t harmful; // as in a Submission
};

void merge_free(void *pointer) {
    Merge *merge = pointer;
    if (!merge)
        return;
    sql_row_free(&merge->test);
    submission_free(merge->again);
    submission_free(merge->trial);
    commit_record_release(&merge->tip);
    git_repository_free(merge->repo);
    free(merge);
}

// ---- on a new baseline

static void compare_lines(Merge *merge) {
    const Submission *s = merge->again;
    CommitRange seen = {merge->test.base_commit, merge->test.new_commit}, again = {s->base, s->new};
    if (patch_same_lines(merge->repo, seen, again, s->engine.net_file, merge->lines))
        *merge->lines = 0;
}

static bool rebase(const Caller *caller, Merge *merge, char sha[REPO_SHA_MAX], Error *err) {
    git_oid tree;
    return reapply_tree(caller->turn->db, merge->repo, &merge->test, &tree, err) &&
           merge_commit_make(caller, merge->repo, merge->test.new_commit, &tree, merge->baseline, 0,
                             sha, err);
}

// The same test with the same settings on the new baseline, in its author's name.
static Submission *submission_again(const Caller *caller, Merge *merge, const char *commit,
                                    Error *err) {
    Submission *s = xcalloc(1, sizeof *s);
    json_auto_t *settings = sql_test_settings(caller->turn->db, merge->test.id);
    s->fields = submit_fields_of_test(settings);
    s->book_id = merge->test.book_id;
    s->openings = merge->test.openings;
    s->author_id = merge->test.author_id;
    s->retest_of = merge->test.id;
    s->ground = (Ground){.in_baseline = true, .harmful = merge->harmful};
    memcpy(s->base, merge->baseline, sizeof s->base);
    memcpy(s->new, commit, sizeof s->new);
    s->repo = repo_open(caller->data, merge->test.engine, err);
    bool good = s->repo &&
                (sql_engine_by_id(caller->turn->db, &s->engine, merge->test.engine_id) ||
                 error_set(err, 500, "internal", "the test has no engine")) &&
                submit_fields_check(s->fields, err) &&
                submit_prepare_record(caller, s, s->base, &s->base_record, err) &&
                submit_prepare_record(caller, s, s->new, &s->new_record, err) &&
                patch_identify(s->repo, s->base, s->new, &s->identity, err);
    if (good)
        return s;
    submission_free(s);
    return NULL;
}

static bool prepare_again(const Caller *caller, Merge *merge, Error *err) {
    char sha[REPO_SHA_MAX];
    if (!rebase(caller, merge, sha, err) ||
        !(merge->again = submission_again(caller, merge, sha, err)))
        return false;
    compare_lines(merge);
    bool fits =
        untested_fits(caller->turn->db, merge->repo, &merge->test,
                      policy_untested(caller->turn->db, merge->test.engine_id), merge->apart);
    return *merge->lines || !fits ||
           ((merge->trial = submission_again(caller, merge, sha, err)) &&
            trial_fields(merge->trial, merge->test.id, err));
}

// ---- the approval of the new test

int64_t merge_approver(Db *db, int64_t test) {
    char hash[SHA256_HEX_MAX];
    return test_approval_hash(db, test, hash) ? sql_test_approver(db, 0, .test = test, .hash = hash)
                                              : 0;
}

// The server made the new commit, and it changes the same lines: so it needs no other approval.
static bool keep_approval(const Caller *caller, const Merge *merge, int64_t approver,
                          int64_t retest, Error *err) {
    char hash[SHA256_HEX_MAX];
    long long test = merge->test.id;
    const char *why = approver ? merge->lines : "its approval no longer holds";
    if (*why) {
        ledger_event(caller->turn, "rebased", caller->viewer->user_id, 0, retest,
                     "test %lld on the new baseline, to be approved again: %s", test, why);
        return true;
    }
    char *words scope(free_ptr) =
        xasprintf("the approval of test %lld is kept: the server moved its change to the new "
                  "baseline, and each file has the same removed and added lines",
                  test);
    if (!test_approval_hash(caller->turn->db, retest, hash))
        return error_set(err, 500, "internal", "the test's commits are not all there");
    return ledger_test_activate(caller->turn, retest, approver, hash, words, err);
}

bool merge_is_free(Db *db, int64_t test, Error *err) {
    SqlMergeOfTest row scope(sql_row_free) = {0};
    bool there = sql_merge_of_test(db, &row, test);
    if (there && strcmp(row.state, "trial") == 0)
        return error_set(err, 409, "queued", "its merge is tried by test %lld",
                         (long long)row.trial_id);
    return !there || strcmp(row.state, "waiting") != 0 ||
           error_set(err, 409, "queued", "it waits for %lld merges before it",
                     (long long)row.ahead);
}

// ---- preparing ----------------------------------------------------------------------------------

static bool may_merge(const Caller *caller, const MergeAsk *ask, SqlTestForChange *test,
                      Error *err) {
    return right_to(ACTION_MERGE, caller, ask->test, test, err) &&
           (ask->row || merge_is_free(caller->turn->db, ask->test, err)) &&
           verdict_unturned(caller->turn->db, ask->test, ask->turned_too, err);
}

static bool prepare(const Caller *caller, Merge *merge, Error *err) {
    Db *db = caller->turn->db;
    int64_t engine = merge->test.engine_id;
    snprintf(merge->baseline, sizeof merge->baseline, "%s", merge->test.baseline);
    merge->waits = !merge->ask.row && sql_merge_open_of_engine(db, 0, engine);
    if (merge->waits)
        return true;
    merge->repo = repo_open(caller->data, merge->test.engine, err);
    merge->harmful = sql_harmful_count(db, 0, engine);
    if (!merge->repo || !approval_unharmed(db, merge->repo, engine, merge->test.new_commit, err))
        return false;
    return reapply_is_needed(merge->repo, &merge->test)
               ? prepare_again(caller, merge, err)
               : net_commit_make(caller, merge->repo, &merge->test, &merge->tip, err);
}

Merge *submit_merge_prepare(const Caller *caller, MergeAsk ask, Error *err) {
    Merge *merge = xcalloc(1, sizeof *merge);
    merge->ask = ask;
    if (may_merge(caller, &ask, &merge->test, err) && prepare(caller, merge, err))
        return merge;
    merge_free(merge);
    return NULL;
}

// ---- in the turn --------------------------------------------------------------------------------

static bool forward(const Caller *caller, Merge *merge, Error *err) {
    Db *db = caller->turn->db;
    bool has_net = *merge->tip.info.sha;
    int64_t engine = merge->test.engine_id;
    BranchMove move = {.engine = engine,
                       .test = merge->test.id,
                       .branch = merge->test.branch,
                       .old = merge->baseline,
                       .commit = has_net ? merge->tip.info.sha : merge->test.new_commit};
    return (!has_net || commit_record(db, engine, &merge->tip, caller->turn->now, err)) &&
           sql_sides_merged(db, err, .engine = engine, .commit = merge->test.new_commit) &&
           branch_move(caller, merge->repo, &move, err);
}

static bool add_row(const Caller *caller, const Merge *merge, int64_t trial, Error *err) {
    const Submission *s = merge->trial;
    return sql_merge_add(caller->turn->db, err, .engine = merge->test.engine_id,
                         .test = merge->test.id, .user = caller->viewer->user_id,
                         .turned = merge->ask.turned_too, .state = trial ? "trial" : "waiting",
                         .baseline = trial ? s->base : NULL, .candidate = trial ? s->new : NULL,
                         .trial = trial ? &trial : NULL, .now = caller->turn->now);
}

static bool wait_in_line(const Caller *caller, const Merge *merge, Error *err) {
    if (!add_row(caller, merge, 0, err))
        return false;
    ledger_event(caller->turn, "queued", caller->viewer->user_id, 0, merge->test.id,
                 "to be merged after the merges before it");
    return true;
}

static bool try_tree(const Caller *caller, Merge *merge, int64_t approver, int64_t *trial,
                     Error *err) {
    const Submission *s = merge->trial;
    *trial = trial_begin(caller, merge->trial, merge->test.id, approver, err);
    if (!*trial)
        return false;
    ledger_event(caller->turn, "queued", caller->viewer->user_id, 0, merge->test.id,
                 "test %lld tries the tree that its merge makes on the new baseline",
                 (long long)*trial);
    return merge->ask.row
               ? sql_merge_begin(caller->turn->db, err, .id = merge->ask.row, .baseline = s->base,
                                 .candidate = s->new, .trial = *trial)
               : add_row(caller, merge, *trial, err);
}

static bool test_again(const Caller *caller, Merge *merge, int64_t approver, int64_t *retest,
                       Error *err) {
    *retest = submit_store(caller, merge->again, err);
    if (!*retest)
        return false;
    const char *why = !approver       ? "its approval no longer holds"
                      : *merge->lines ? merge->lines
                                      : merge->apart;
    ledger_event(caller->turn, "rebased", caller->viewer->user_id, 0, merge->test.id,
                 "it needs a new test on the new baseline, test %lld: %s", (long long)*retest, why);
    return keep_approval(caller, merge, approver, *retest, err);
}

static bool is_as_prepared(const Caller *caller, const Merge *merge, const SqlTestForChange *now,
                           Error *err) {
    if (strcmp(now->baseline, merge->baseline) != 0)
        return error_set(err, 409, "conflict", "another test was merged just now; try again");
    return sql_harmful_count(caller->turn->db, 0, now->engine_id) == merge->harmful ||
           error_set(err, 409, "conflict", "a commit was called harmful just now; try again");
}

bool submit_merge(const Caller *caller, Merge *merge, MergeEnd *end, Error *err) {
    Db *db = caller->turn->db;
    SqlTestForChange now scope(sql_row_free) = {0};
    *end = (MergeEnd){0};
    if (!may_merge(caller, &merge->ask, &now, err))
        return false;
    end->waits =
        merge->waits || (!merge->ask.row && sql_merge_open_of_engine(db, 0, now.engine_id));
    if (end->waits)
        return wait_in_line(caller, merge, err);
    if (!is_as_prepared(caller, merge, &now, err))
        return false;
    if (!merge->again)
        return forward(caller, merge, err);
    int64_t approver = merge_approver(db, merge->test.id);
    return merge->trial && approver ? try_tree(caller, merge, approver, &end->trial, err)
                                    : test_again(caller, merge, approver, &end->retest, err);
}

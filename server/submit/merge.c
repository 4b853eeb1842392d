// See merge.h.
#include "server/submit/merge.h"

#include <stdlib.h>
#include <string.h>

#include "server/ledger/approval.h"
#include "server/ledger/ledger.h"
#include "server/ledger/verdict_mark.h"
#include "server/patch/same_lines.h"
#include "server/submit/fields.h"
#include "server/submit/net_commit.h"
#include "server/submit/reapply.h"
#include "server/submit/rights.h"
#include "server/submit/submit.h"
#include "server/submit/test_columns.h"
#include "sql/tests.h"

struct Merge {
    SqlTestForChange test;
    char baseline[REPO_SHA_MAX]; // as it was when the merge was prepared
    Submission *again;           // NULL: the branch moves forward
    char why[SAME_WHY_MAX];      // why the approval does not cover `again`; "": it may
    CommitRecord tip;            // with the net; info.sha "": the tested commit is the tip
    git_repository *repo;
    int64_t harmful; // as in a Submission
    bool turned_too;
};

void merge_free(void *pointer) {
    Merge *merge = pointer;
    if (!merge)
        return;
    sql_row_free(&merge->test);
    submission_free(merge->again);
    commit_record_release(&merge->tip);
    git_repository_free(merge->repo);
    free(merge);
}

static void merge_drop(Merge **merge) {
    merge_free(*merge);
}

// ---- on a new baseline

// The count belongs to the tree that was tested, not to this one.
static char *message_without_bench(const char *message) {
    Str out;
    str_init(&out, 1 << 20);
    for (const char *line = message; *line;) {
        size_t n = strcspn(line, "\n");
        char *text scope(free_ptr) = xstrndup(line, n);
        if (!repo_message_bench(text))
            str_printf(&out, "%s\n", text);
        line += n + (line[n] == '\n');
    }
    while (out.size > 1 && out.data[out.size - 2] == '\n')
        out.data[--out.size] = 0;
    return str_steal(&out);
}

static bool reapply_commit(const Caller *caller, Merge *merge, const git_oid *tree,
                           char sha[REPO_SHA_MAX], Error *err) {
    git_oid oid;
    git_commit *tested = NULL;
    if (git_oid_fromstr(&oid, merge->test.new_commit) < 0 ||
        git_commit_lookup(&tested, merge->repo, &oid) < 0)
        return repo_error(err, 500, "git", "the tested commit cannot be read");
    const git_signature *author = git_commit_author(tested);
    char *message scope(free_ptr) = message_without_bench(git_commit_message(tested));
    CommitSpec spec = {.tree = tree,
                       .parent = merge->baseline,
                       .author = author->name,
                       .author_email = author->email,
                       .authored = (double)author->when.time,
                       .offset_minutes = author->when.offset,
                       .message = message};
    bool ok = repo_commit_as(merge->repo, caller->viewer->name, caller->turn->now, spec, sha, err);
    git_commit_free(tested);
    return ok;
}

static void compare_lines(Merge *merge) {
    const Submission *s = merge->again;
    CommitRange seen = {merge->test.base_commit, merge->test.new_commit}, again = {s->base, s->new};
    if (patch_same_lines(merge->repo, seen, again, s->engine.net_file, merge->why))
        *merge->why = 0;
}

// The same test with the same settings on the new baseline, in its author's name.
static bool prepare_again(const Caller *caller, Merge *merge, Error *err) {
    git_oid tree;
    Submission *s = merge->again = xcalloc(1, sizeof *s);
    if (!sql_engine_by_id(caller->turn->db, &s->engine, merge->test.engine_id))
        return error_set(err, 500, "internal", "the test has no engine");
    json_auto_t *settings = sql_test_settings(caller->turn->db, merge->test.id);
    s->fields = submit_fields_of_test(settings);
    s->book_id = merge->test.book_id;
    s->author_id = merge->test.author_id;
    s->retest_of = merge->test.id;
    s->repo = repo_open(caller->data, merge->test.engine, err);
    memcpy(s->base, merge->baseline, sizeof s->base);
    s->ground = (Ground){.in_baseline = true, .harmful = merge->harmful};
    return s->repo && submit_fields_check(s->fields, err) &&
           reapply_tree(merge->repo, &merge->test, &tree, err) &&
           reapply_commit(caller, merge, &tree, s->new, err) &&
           submit_prepare_record(caller, s, s->base, &s->base_record, err) &&
           submit_prepare_record(caller, s, s->new, &s->new_record, err) &&
           patch_identify(s->repo, s->base, s->new, &s->identity, err) &&
           (compare_lines(merge), true);
}

// ---- the approval of the new test

// The person whose approval of the test still holds: a maintainer who approved what it is now. 0:
// none.
static int64_t approver_of(const Caller *caller, const Merge *merge) {
    char hash[SHA256_HEX_MAX];
    Db *db = caller->turn->db;
    return test_approval_hash(db, merge->test.id, hash)
               ? sql_test_approver(db, 0, .test = merge->test.id, .hash = hash)
               : 0;
}

// The server made the new commit, and it changes the same lines: so it needs no other approval.
static bool keep_approval(const Caller *caller, const Merge *merge, int64_t retest, Error *err) {
    char hash[SHA256_HEX_MAX];
    long long test = merge->test.id;
    int64_t approver = approver_of(caller, merge);
    const char *why = approver ? merge->why : "its approval no longer holds";
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

// ---- public

static bool may_merge(const Caller *caller, int64_t test, Merge *merge, Error *err) {
    return right_to(ACTION_MERGE, caller, test, &merge->test, err) &&
           verdict_unturned(caller->turn->db, test, merge->turned_too, err);
}

Merge *submit_merge_prepare(const Caller *caller, int64_t test, bool turned_too, Error *err) {
    Merge *merge scope(merge_drop) = xcalloc(1, sizeof *merge);
    merge->turned_too = turned_too;
    if (!may_merge(caller, test, merge, err))
        return NULL;
    snprintf(merge->baseline, sizeof merge->baseline, "%s", merge->test.baseline);
    merge->repo = repo_open(caller->data, merge->test.engine, err);
    int64_t engine = merge->test.engine_id;
    merge->harmful = sql_harmful_count(caller->turn->db, 0, engine);
    bool forward = merge->repo && !reapply_is_needed(merge->repo, &merge->test);
    if (!merge->repo ||
        !approval_unharmed(caller->turn->db, merge->repo, engine, merge->test.new_commit, err) ||
        !(forward ? net_commit_make(caller, merge->repo, &merge->test, &merge->tip, err)
                  : prepare_again(caller, merge, err)))
        return NULL;
    Merge *done = merge;
    merge = NULL;
    return done;
}

// The reference last, as nothing but the COMMIT can fail after it.
static bool forward(const Caller *caller, Merge *merge, Error *err) {
    bool has_net = *merge->tip.info.sha;
    const char *sha = has_net ? merge->tip.info.sha : merge->test.new_commit;
    char *ref scope(free_ptr) = xasprintf("refs/heads/%s", merge->test.branch);
    int64_t test = merge->test.id, engine = merge->test.engine_id;
    if ((has_net &&
         !commit_record(caller->turn->db, engine, &merge->tip, caller->turn->now, err)) ||
        !sql_engine_set_baseline(caller->turn->db, err, .engine = engine, .baseline = sha,
                                 .old = merge->baseline) ||
        !sql_test_merged(caller->turn->db, err, .test = test, .commit = sha,
                         .now = caller->turn->now) ||
        !sql_sides_merged(caller->turn->db, err, .engine = engine,
                          .commit = merge->test.new_commit))
        return false;
    turn_moves_git(caller->turn);
    if (!repo_ref_set(merge->repo, ref, sha, err))
        return false;
    ledger_event(caller->turn, "merged", caller->viewer->user_id, 0, test, "%s is now at %.10s",
                 merge->test.branch, sha);
    turn_publish(
        caller->turn, "test",
        json_pack("{s:I, s:s, s:s}", "id", (json_int_t)test, "state", "finished", "merged", sha));
    return true;
}

bool submit_merge(const Caller *caller, Merge *merge, int64_t *retest, Error *err) {
    *retest = 0;
    if (!may_merge(caller, merge->test.id, merge, err))
        return false;
    if (strcmp(merge->test.baseline, merge->baseline) != 0)
        return error_set(err, 409, "conflict", "another test was merged just now; try again");
    if (sql_harmful_count(caller->turn->db, 0, merge->test.engine_id) != merge->harmful)
        return error_set(err, 409, "conflict", "a commit was called harmful just now; try again");
    if (!merge->again)
        return forward(caller, merge, err);
    *retest = submit_store(caller, merge->again, err);
    return *retest && keep_approval(caller, merge, *retest, err);
}

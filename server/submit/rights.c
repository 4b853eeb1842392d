// See rights.h.
#include "server/submit/rights.h"

#include <string.h>

#include "server/common/json_member.h"
#include "server/common/str.h"
#include "server/db/settings.h"
#include "server/git/repo.h"
#include "server/ledger/approval.h"
#include "server/ledger/verdict_mark.h"
#include "server/submit/ground.h"
#include "server/submit/net_commit.h"
#include "server/submit/policy.h"
#include "server/submit/reapply.h"
#include "server/submit/review.h"
#include "sql/nets.h"
#include "sql/tests.h"
#include "sql/users.h"

typedef bool Condition(const Caller *caller, const SqlTestForChange *row, Error *err);

static bool is_state(const SqlTestForChange *row, const char *state) {
    return strcmp(row->state, state) == 0;
}

static bool is_result(const SqlTestForChange *row, const char *result) {
    return row->result && strcmp(row->result, result) == 0;
}

// ---- does it fit the state ----------------------------------------------------------------------

static bool refuse_state(const SqlTestForChange *row, Error *err) {
    return error_set(err, 409, "wrong_state", "test %lld is %s", (long long)row->id, row->state);
}

static bool refuse_harmful(const SqlTestForChange *row, Error *err) {
    return error_set(err, 409, "harmful_commit", "test %lld was stopped as harmful",
                     (long long)row->id);
}

static bool always(const Caller *caller, const SqlTestForChange *row, Error *err) {
    (void)caller, (void)row, (void)err;
    return true;
}

static bool is_pending(const Caller *caller, const SqlTestForChange *row, Error *err) {
    (void)caller;
    return is_state(row, "pending") || refuse_state(row, err);
}

static bool is_active(const Caller *caller, const SqlTestForChange *row, Error *err) {
    (void)caller;
    return is_state(row, "active") || refuse_state(row, err);
}

static bool is_open(const Caller *caller, const SqlTestForChange *row, Error *err) {
    (void)caller;
    return !is_state(row, "finished") || refuse_state(row, err);
}

// A test that failed on the machines may go on, too.
static bool is_resumable(const Caller *caller, const SqlTestForChange *row, Error *err) {
    (void)caller;
    if (row->harmful)
        return refuse_harmful(row, err);
    return is_state(row, "paused") || is_result(row, "failed") || refuse_state(row, err);
}

static bool is_unmerged(const SqlTestForChange *row, Error *err) {
    return !row->merged_commit || error_set(err, 409, "merged", "this test was merged already");
}

static bool is_decided(const Caller *caller, const SqlTestForChange *row, Error *err) {
    (void)caller;
    bool undecided = !is_state(row, "finished") || is_result(row, "stopped");
    if (undecided || is_result(row, "failed"))
        return error_set(err, 409, "wrong_state", "only a test with a verdict can be reopened");
    return is_unmerged(row, err) && (!row->harmful || refuse_harmful(row, err));
}

static char *missing_net(const Caller *caller, const SqlTestForChange *row) {
    SqlNetMissingRows nets scope(sql_rows_end) = sql_net_missing(caller->turn->db, row->id);
    return sql_net_missing_next(&nets) ? xstrdup(nets.row.net) : NULL;
}

static bool lacks_net(const Caller *caller, const SqlTestForChange *row, Error *err) {
    char *net scope(free_ptr) = missing_net(caller, row);
    if (!is_open(caller, row, err))
        return false;
    return net ||
           error_set(err, 409, "wrong_state", "test %lld waits for no net", (long long)row->id);
}

static bool can_be_harmful(const Caller *caller, const SqlTestForChange *row, Error *err) {
    (void)caller;
    long long id = row->id;
    if (row->harmful)
        return error_set(err, 409, "wrong_state", "test %lld was stopped as harmful already", id);
    return !row->merged_commit ||
           error_set(err, 409, "in_baseline",
                     "test %lld was merged, so its commit is in the history of the baseline, and "
                     "so in every test; stop the tests, and take the change out of the baseline",
                     id);
}

static bool can_be_undone(const Caller *caller, const SqlTestForChange *row, Error *err) {
    (void)caller;
    if (!row->merged_commit)
        return error_set(err, 409, "wrong_state", "this test was not merged");
    if (row->is_undone)
        return error_set(err, 409, "wrong_state", "the merge of this test was undone already");
    return strcmp(row->merged_commit, row->baseline) == 0 ||
           error_set(err, 409, "wrong_state",
                     "%s has moved on since this merge: take the change out by a patch",
                     row->branch);
}

static bool can_be_merged(const Caller *caller, const SqlTestForChange *row, Error *err) {
    (void)caller;
    if (!is_result(row, "accepted"))
        return error_set(err, 409, "wrong_state",
                         "only an accepted test can be merged; this one is %s",
                         row->result ? row->result : row->state);
    return is_unmerged(row, err) && (!row->harmful || refuse_harmful(row, err));
}

// ---- does the viewer have the role --------------------------------------------------------------

static bool is_signed_in(const Caller *caller, Error *err) {
    return caller->viewer->user_id || error_set(err, 401, "unauthorized", "sign in first");
}

static bool has_role(const Caller *caller, const SqlTestForChange *row, const char *role) {
    return viewer_has_role(caller->turn->db, caller->viewer, row->engine_id, role);
}

static bool is_author(const Caller *caller, const SqlTestForChange *row) {
    return caller->viewer->user_id && row->author_id == caller->viewer->user_id;
}

static bool maintains(const Caller *caller, int64_t engine_id, const char *engine, Error *err) {
    return is_signed_in(caller, err) &&
           (viewer_has_role(caller->turn->db, caller->viewer, engine_id, "maintainer") ||
            error_set(err, 403, "forbidden", "this needs the role maintainer of %s", engine));
}

static bool is_maintainer(const Caller *caller, const SqlTestForChange *row, Error *err) {
    return maintains(caller, row->engine_id, row->engine, err);
}

static bool is_author_or_maintainer(const Caller *caller, const SqlTestForChange *row, Error *err) {
    return is_signed_in(caller, err) &&
           (is_author(caller, row) || has_role(caller, row, "maintainer") ||
            error_set(err, 403, "forbidden",
                      "this is for the author of the test and for maintainers of %s", row->engine));
}

// A test that failed on the machines is resumed by maintainers alone.
static bool may_resume(const Caller *caller, const SqlTestForChange *row, Error *err) {
    return is_result(row, "failed") ? is_maintainer(caller, row, err)
                                    : is_author_or_maintainer(caller, row, err);
}

static bool is_developer(const Caller *caller, int64_t engine_id, const char *engine, Error *err) {
    return is_signed_in(caller, err) &&
           (viewer_submits(caller->turn->db, caller->viewer, engine_id) ||
            error_set(err, 403, "forbidden",
                      "this needs the role developer of %s; ask for it at /roles", engine));
}

static bool is_developer_of_test(const Caller *caller, const SqlTestForChange *row, Error *err) {
    return is_developer(caller, row->engine_id, row->engine, err);
}

// ---- does anything else stand against it --------------------------------------------------------

static bool self_approval(Db *db) {
    return setting_whole(db, SETTING_SELF_APPROVAL) == 1;
}

// A person alone can go on only by the operator's setting.
static bool refuse_own_test(Db *db, const SqlTestForChange *row, Error *err) {
    if (sql_other_approver(db, .author = row->author_id, .engine = row->engine_id))
        return error_set(err, 403, "own_test",
                         "you cannot approve your own test; another maintainer must look at it "
                         "(unless the operator allows it: setting self_approval)");
    return error_set(
        err, 403, "own_test",
        "you cannot approve your own test, and %s has no other maintainer: the "
        "operator gives the role to a second person, or lets authors approve their own "
        "tests by: server set DATA self_approval 1",
        row->engine);
}

static bool may_approve(const Caller *caller, const SqlTestForChange *row, Error *err) {
    char *net scope(free_ptr) = missing_net(caller, row);
    if (is_author(caller, row) && !self_approval(caller->turn->db))
        return refuse_own_test(caller->turn->db, row, err);
    return !net ||
           error_set(err, 409, "net_missing", "its net %.12s has not been uploaded yet", net);
}

// It would end again at once.
static bool is_turned(const Caller *caller, const SqlTestForChange *row, Error *err) {
    return !verdict_stands(caller->turn->db, row->id) ||
           error_set(err, 409, "wrong_state", "the batches that count make the same verdict");
}

// A merge that moves the branch forward puts the net into the tree.
static bool net_is_small(const Caller *caller, const SqlTestForChange *row, Error *err) {
    Db *db = caller->turn->db;
    int64_t size = net_to_merge(db, row);
    if (strcmp(row->base_commit, row->baseline) != 0)
        return true;
    return size <= NET_MERGE_MAX ||
           error_set(err, 409, "net_too_large",
                     "its net has %.1f MiB, larger than what the repository takes (%d MiB); test "
                     "it in a smaller form",
                     (double)size / (1 << 20), NET_MERGE_MAX >> 20);
}

// Offered again on the present baseline already.
static bool is_offered_once(const Caller *caller, const SqlTestForChange *row, Error *err) {
    int64_t again =
        sql_test_retest(caller->turn->db, 0, .test = row->id, .baseline = row->baseline);
    return !again || error_set(err, 409, "offered_again",
                               "the baseline has moved on since this test; it was offered again on "
                               "the new one as test %lld",
                               (long long)again);
}

// The policy of the engine (policy.h).
static bool meets_policy(const Caller *caller, const SqlTestForChange *row, Error *err) {
    json_auto_t *missing = policy_missing(caller->turn->db, row->engine_id, row->id);
    const json_t *text;
    size_t i;
    Str all scope(str_release);
    str_init(&all, 4000);
    json_array_foreach (missing, i, text)
        str_printf(&all, "%s%s", i ? "; " : "", json_string_value(text));
    return !all.size || error_set(err, 409, "policy", "the policy of %s asks for more: %s",
                                  row->engine, all.data);
}

static bool may_merge(const Caller *caller, const SqlTestForChange *row, Error *err) {
    if (strcmp(row->new_options, row->base_options) != 0)
        return error_set(err, 409, "options_differ",
                         "the two sides had different options, so the commit alone is not what was "
                         "tested; test it with equal options first");
    return net_is_small(caller, row, err) && is_offered_once(caller, row, err) &&
           meets_policy(caller, row, err);
}

// ---- what git says ------------------------------------------------------------------------------

// Each runs after all other conditions hold, because reading git takes longer.

static bool stands_on_ground(const Caller *caller, const SqlTestForChange *row, Error *err) {
    Ground ignored;
    git_repository *repo scope(repo_free) = repo_open(caller->data, row->engine, err);
    return repo && ground_of_test(caller->turn->db, repo, row, &ignored, err);
}

// Files that the diff only names are no obstacle here: the page asks the approver about them beside
// the button, and a request that does not answer is refused with `files_unseen` (review.h).
static bool can_be_reviewed(const Caller *caller, const SqlTestForChange *row, Error *err) {
    Ground ignored;
    git_repository *repo scope(repo_free) = repo_open(caller->data, row->engine, err);
    return repo && ground_of_test(caller->turn->db, repo, row, &ignored, err) &&
           review_covers(repo, row, true, err);
}

static bool fits_the_baseline(const Caller *caller, const SqlTestForChange *row, Error *err) {
    git_repository *repo scope(repo_free) = repo_open(caller->data, row->engine, err);
    return repo &&
           approval_unharmed(caller->turn->db, repo, row->engine_id, row->new_commit, err) &&
           (!reapply_is_needed(repo, row) || reapply_fits(caller->turn->db, repo, row, err));
}

static bool is_outside_baseline(const Caller *caller, const SqlTestForChange *row, Error *err) {
    git_repository *repo scope(repo_free) = repo_open(caller->data, row->engine, err);
    return repo && ground_outside_baseline(repo, row, err);
}

// ---- the table ----------------------------------------------------------------------------------

static const struct {
    const char *name; // in documents
    Condition *fits, *has_role, *is_free, *by_git;
} rights[ACTION_COUNT] = {
    [ACTION_APPROVE] = {"approve", is_pending, is_maintainer, may_approve, can_be_reviewed},
    [ACTION_UPLOAD_NET] = {"upload_net", lacks_net, is_developer_of_test, always, always},
    [ACTION_PAUSE] = {"pause", is_active, is_author_or_maintainer, always, always},
    [ACTION_RESUME] = {"resume", is_resumable, may_resume, always, stands_on_ground},
    [ACTION_REOPEN] = {"reopen", is_decided, is_maintainer, is_turned, stands_on_ground},
    [ACTION_MODIFY] = {"modify", is_open, is_author_or_maintainer, always, always},
    [ACTION_DESCRIBE] = {NULL, always, is_author_or_maintainer, always, always},
    [ACTION_STOP] = {"stop", is_open, is_author_or_maintainer, always, always},
    [ACTION_HARMFUL] = {"harmful", can_be_harmful, is_maintainer, always, is_outside_baseline},
    [ACTION_EXCLUDE] = {"exclude", always, is_maintainer, always, always},
    [ACTION_INCLUDE] = {NULL, always, is_maintainer, always, always},
    [ACTION_READMIT] = {NULL, always, is_maintainer, always, always},
    [ACTION_BENCH] = {"bench", always, is_maintainer, always, always},
    [ACTION_MERGE] = {"merge", can_be_merged, is_maintainer, may_merge, fits_the_baseline},
    [ACTION_UNDO] = {"undo", can_be_undone, is_maintainer, always, always},
};

const char *action_name(Action action) {
    return rights[action].name;
}

bool right_fits(Action action, const Caller *caller, const SqlTestForChange *row, Error *err) {
    return rights[action].fits(caller, row, err);
}

// All but what git says.
static bool check(Action action, const Caller *caller, const SqlTestForChange *row, Error *err) {
    return rights[action].has_role(caller, row, err) && rights[action].fits(caller, row, err) &&
           rights[action].is_free(caller, row, err);
}

bool right_check(Action action, const Caller *caller, const SqlTestForChange *row, Error *err) {
    return check(action, caller, row, err) && rights[action].by_git(caller, row, err);
}

bool right_to(Action action, const Caller *caller, int64_t test, SqlTestForChange *row,
              Error *err) {
    if (!sql_test_for_change(caller->turn->db, row, test))
        return error_set(err, 404, "no_such_test", "there is no test %lld", (long long)test);
    return check(action, caller, row, err);
}

bool right_approves(const Caller *caller, const SqlTestForChange *row, Error *err) {
    return is_maintainer(caller, row, err) && may_approve(caller, row, err);
}

bool right_to_submit(const Caller *caller, const SqlEngineById *engine, Error *err) {
    return is_developer(caller, engine->id, engine->name, err);
}

bool right_to_give_roles(const Caller *caller, int64_t engine_id, const char *engine, Error *err) {
    return maintains(caller, engine_id, engine, err);
}

bool right_to_add_book(const Caller *caller, const SqlEngineById *engine, Error *err) {
    return maintains(caller, engine->id, engine->name, err);
}

static bool is_any_maintainer(const Caller *caller, Error *err) {
    return is_signed_in(caller, err) &&
           (viewer_has_role(caller->turn->db, caller->viewer, 0, "maintainer") ||
            error_set(err, 403, "forbidden", "this needs the role maintainer"));
}

bool right_to_block(const Caller *caller, Error *err) {
    return is_any_maintainer(caller, err);
}

bool right_to_vouch(const Caller *caller, Error *err) {
    return is_any_maintainer(caller, err);
}

// What a maintainer says of a test before and after it runs: that volunteers may build it, or that
// its commit does harm. Git is read on a reader thread; what the database says counts in the turn.
#include <stdlib.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/ledger/ledger.h"
#include "server/patch/patch.h"
#include "server/submit/submit.h"

// ---- approving ----------------------------------------------------------------------------------

// The author may not approve his own test, unless the operator allows it (one-person
// installations).
static bool may_approve(Request *req, const json_t *row, Error *err) {
    if (member_int(row, "author_id") != req->viewer.user_id ||
        strcmp(request_setting(req, "self_approval", "0"), "1") == 0)
        return true;
    return error_set(err, 403, "own_test",
                     "nobody approves his own test; another maintainer must look at it (the "
                     "operator may allow it: setting self_approval)");
}

// What machines could not build is not approved.
static bool has_nets(Request *req, int64_t test, Error *err) {
    json_auto_t *missing = submit_missing_nets(req->turn->db, test);
    if (!json_array_size(missing))
        return true;
    return error_set(err, 409, "net_missing",
                     "the test needs the net %s, which nobody has uploaded yet",
                     member_text(json_array_get(missing, 0), "sha256"));
}

// What git says of a test's base, for the turn. Once true it stays true.
typedef struct Base {
    bool in_baseline;
    int64_t harmful; // as in a Submission
} Base;

static bool look_at_base(Request *req, git_repository *repo, const json_t *row, Error *err) {
    int64_t engine_id = member_int(row, "engine_id");
    json_auto_t *engine = db_row(req->turn->db, SQL_ENGINE_BY_ID, "i", engine_id);
    const char *base = member_text(row, "base_commit"), *new = member_text(row, "new_commit");
    Base *found = xcalloc(1, sizeof *found);
    req->state = found, req->state_free = free;
    found->harmful = db_int(req->turn->db, SQL_HARMFUL_COUNT, 0, "i", engine_id);
    return approval_unharmed(req->turn->db, repo, engine_id, new, err) &&
           approval_unharmed(req->turn->db, repo, engine_id, base, err) &&
           approval_base(req->turn->db, repo, engine, base, &found->in_baseline, err);
}

static bool base_holds(Request *req, const json_t *row, Error *err) {
    const Base *found = req->state;
    int64_t engine_id = member_int(row, "engine_id");
    if (db_int(req->turn->db, SQL_HARMFUL_COUNT, 0, "i", engine_id) != found->harmful)
        return error_set(err, 409, "conflict", "a commit was called harmful just now; try again");
    if (found->in_baseline)
        return db_run(req->turn->db, err, SQL_TEST_BASE_IN_BASELINE, "i", member_int(row, "id"));
    return approval_stands(req->turn->db, engine_id, member_text(row, "base_commit"), err);
}

// The first file that the diff names and does not show.
static const json_t *unseen_file(const json_t *diff) {
    json_t *file;
    size_t i;
    json_array_foreach (json_object_get(diff, "files"), i, file) {
        if (json_is_object(json_object_get(file, "unseen")))
            return file;
    }
    return NULL;
}

static bool is_shown(const json_t *diff, bool unseen_too, Error *err) {
    if (json_is_true(json_object_get(diff, "truncated")))
        return error_set(err, 409, "diff_too_long",
                         "the diff has over %d lines or %zu MiB, more than the server shows; ask "
                         "for the change in several patches",
                         DIFF_WHOLE.lines, DIFF_WHOLE.bytes >> 20);
    const json_t *file = unseen_file(diff);
    const json_t *content = json_object_get(file, "unseen");
    return !file || unseen_too ||
           error_set(err, 409, "files_unseen",
                     "the diff does not show the bytes of %.200s (%lld bytes, SHA-256 %s); look at "
                     "them elsewhere and say so",
                     member_text(file, "path"), (long long)member_int(content, "size"),
                     member_text(content, "sha256"));
}

// An approval is of what an approver can have seen.
static bool all_is_shown(git_repository *repo, const json_t *row, bool unseen_too, Error *err) {
    DiffCommits commits = {member_text(row, "new_commit"), member_text(row, "base_commit"),
                           member_text(row, "baseline")};
    json_auto_t *diff = patch_test_document(repo, &commits, DIFF_WHOLE, err);
    const json_t *base = json_object_get(diff, "base_diff");
    return diff && is_shown(diff, unseen_too, err) &&
           (json_is_null(base) || is_shown(base, unseen_too, err));
}

bool submit_approve_prepare(Request *req, int64_t test, bool unseen_too, Error *err) {
    json_auto_t *row = submit_test_for(req, test, false, err);
    if (!row || !may_approve(req, row, err))
        return false;
    git_repository *repo scope(repo_free) =
        repo_open(req->site->data, member_text(row, "engine"), err);
    return repo && look_at_base(req, repo, row, err) && all_is_shown(repo, row, unseen_too, err);
}

// Where the page that was read carries its hash, approval is of exactly that.
bool submit_approve(Request *req, int64_t test, const char *seen, Error *err) {
    char hash[65];
    json_auto_t *row = submit_test_for(req, test, false, err);
    if (!row || !may_approve(req, row, err) || !has_nets(req, test, err) ||
        !base_holds(req, row, err))
        return false;
    if (!submit_approval_hash(req->turn->db, test, hash))
        return error_set(err, 500, "internal", "the test's commits are not all there");
    if (*seen && strcmp(seen, hash) != 0)
        return error_set(err, 409, "changed",
                         "the test was changed since you looked at it; look again");
    return ledger_test_activate(req->turn, test, req->viewer.user_id, hash, err);
}

// A test that machines failed is resumed by a maintainer alone.
static json_t *resumable(Request *req, int64_t test, Error *err) {
    char *state scope(free_ptr) = db_text(req->turn->db, SQL_LEDGER_TEST_RESUMABLE, "i", test);
    return submit_test_for(req, test, !state || strcmp(state, "failed") != 0, err);
}

bool submit_resume_prepare(Request *req, int64_t test, Error *err) {
    json_auto_t *row = resumable(req, test, err);
    git_repository *repo scope(repo_free) =
        row ? repo_open(req->site->data, member_text(row, "engine"), err) : NULL;
    return repo && look_at_base(req, repo, row, err);
}

bool submit_resume(Request *req, int64_t test, Error *err) {
    json_auto_t *row = resumable(req, test, err);
    return row && base_holds(req, row, err) &&
           ledger_test_resume(req->turn, test, req->viewer.user_id, err);
}

// ---- stopping as harmful ------------------------------------------------------------------------

typedef struct Harm {
    git_repository *repo;
    char commit[REPO_SHA_MAX];
    json_t *built_on; // ids of open tests
    int64_t last;     // of the tests that were looked at
} Harm;

static void harm_free(void *pointer) {
    Harm *harm = pointer;
    if (!harm)
        return;
    git_repository_free(harm->repo);
    json_decref(harm->built_on);
    free(harm);
}

// Open tests after `harm->last` that build the commit or what stands on it.
static void find_built_on(Request *req, int64_t engine_id, Harm *harm) {
    json_auto_t *tests = db_rows(req->turn->db, SQL_TESTS_OPEN_AFTER, "ii", engine_id, harm->last);
    json_t *test;
    size_t i;
    json_array_foreach (tests, i, test) {
        if (repo_is_ancestor(harm->repo, harm->commit, member_text(test, "new_commit")) ||
            repo_is_ancestor(harm->repo, harm->commit, member_text(test, "base_commit")))
            json_array_append(harm->built_on, json_object_get(test, "id"));
    }
    harm->last = db_int(req->turn->db, SQL_TESTS_LAST, 0, "");
}

static bool refuse_baseline(Request *req, const json_t *row, const Harm *harm, Error *err) {
    json_auto_t *engine =
        db_row(req->turn->db, SQL_ENGINE_BY_ID, "i", member_int(row, "engine_id"));
    if (!repo_is_ancestor(harm->repo, harm->commit, member_text(engine, "baseline")))
        return true;
    return error_set(err, 409, "in_baseline",
                     "the commit %.10s of test %lld is in the history of the baseline, and so in "
                     "every test; stop the tests, and take the change out of the baseline",
                     harm->commit, (long long)member_int(row, "id"));
}

bool submit_harmful_prepare(Request *req, int64_t test, Error *err) {
    json_auto_t *row = submit_test_for(req, test, false, err);
    if (!row)
        return false;
    Harm *harm = xcalloc(1, sizeof *harm);
    req->state = harm, req->state_free = harm_free;
    harm->built_on = json_array();
    harm->repo = repo_open(req->site->data, member_text(row, "engine"), err);
    snprintf(harm->commit, sizeof harm->commit, "%s", member_text(row, "new_commit"));
    if (!harm->repo || !refuse_baseline(req, row, harm, err))
        return false;
    find_built_on(req, member_int(row, "engine_id"), harm);
    return true;
}

static bool stop_built_on(Request *req, int64_t test, const Harm *harm, json_t *stopped,
                          Error *err) {
    char *why scope(free_ptr) = xasprintf(
        "it is built on the commit of test %lld, which was stopped as harmful", (long long)test);
    json_t *id;
    size_t i;
    json_array_foreach (harm->built_on, i, id) {
        int64_t other = json_integer_value(id);
        char *state scope(free_ptr) = db_text(req->turn->db, SQL_LEDGER_TEST_STATE, "i", other);
        if (other == test || !state || strcmp(state, "finished") == 0)
            continue;
        if (!ledger_test_stop(req->turn, other, req->viewer.user_id, why, err))
            return false;
        json_array_append(stopped, id);
    }
    return true;
}

bool submit_harmful(Request *req, int64_t test, const char *reason, json_t *stopped, Error *err) {
    Harm *harm = req->state;
    json_auto_t *row = submit_test_for(req, test, false, err);
    if (!row || !refuse_baseline(req, row, harm, err))
        return false;
    if (member_int(row, "harmful"))
        return error_set(err, 409, "wrong_state", "test %lld was stopped as harmful already",
                         (long long)test);
    find_built_on(req, member_int(row, "engine_id"), harm); // what came in meanwhile
    if (!db_run(req->turn->db, err, SQL_TEST_SET_HARMFUL, "i", test) ||
        (strcmp(member_text(row, "state"), "finished") != 0 &&
         !ledger_test_finish(req->turn, test, req->viewer.user_id, "stopped", "stopped", reason,
                             err)))
        return false;
    ledger_event(req->turn, "harmful", req->viewer.user_id, 0, test, "stopped as harmful%s%s",
                 *reason ? ": " : "", reason);
    return stop_built_on(req, test, harm, stopped, err);
}

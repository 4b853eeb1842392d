// What developers and maintainers do to tests, by form and by API: submit, approve, stop, pause,
// resume, modify, merge; and the diff of a test. Forms answer with 303 to the test's page.
#include <string.h>

#include "common/member.h"
#include "http.h"
#include "ledger.h"
#include "patch.h"
#include "submit.h"

enum { ACTION_BODY_MAX = 64 << 10, DIFF_LINES_MAX = 5000 };

static const char form_template[] = "new";

// ---- answers

static bool answer(Request *req, Response *res, int64_t test, int status, json_t *document) {
    char url[40];
    snprintf(url, sizeof url, "/tests/%lld", (long long)test);
    if (request_is_api(req)) {
        json_object_set_new(document, "url", json_string(url));
        response_json(res, status, document);
    } else {
        json_decref(document);
        response_redirect(res, url);
    }
    return true;
}

static bool answer_state(Request *req, Response *res, int64_t test) {
    json_auto_t *row = db_row(req->db, SQL_TEST_FOR_CHANGE, "i", test);
    return answer(
        req, res, test, 200,
        json_pack("{s:I, s:O}", "id", (json_int_t)test, "state", json_object_get(row, "state")));
}

// An optional word with an action, from the form or the JSON body, which may be empty.
static bool optional_word(Request *req, const char *name, const char **word, Error *err) {
    *word = NULL;
    if (!request_is_api(req))
        *word = request_form(req, name, NULL);
    else if (req->body_size && !request_json(req, err, "{s?s}", name, word))
        return false;
    *word = *word ? *word : "";
    return true;
}

// ---- submit

static bool submit_new_prepare(Request *req, Response *res, Error *err) {
    res->form = form_template;
    req->state = submit_prepare(req, err);
    req->state_free = submission_free;
    return req->state;
}

static bool submit_new_apply(Request *req, Response *res, Error *err) {
    res->form = form_template;
    int64_t test = submit_store(req, req->state, err);
    return test && answer(req, res, test, 201,
                          json_pack("{s:I, s:o}", "id", (json_int_t)test, "missing_nets",
                                    submit_missing_nets(req->db, test)));
}

// ---- approve, stop, pause, resume

// The author may not approve his own test, unless the operator allows it (one-person
// installations).
static bool may_approve(Request *req, const json_t *row, Error *err) {
    if (member_int(row, "author_id") != req->viewer.user_id ||
        strcmp(app_setting(req, "self_approval", "0"), "1") == 0)
        return true;
    return error_set(err, 403, "own_test",
                     "nobody approves his own test; another maintainer must look at it (the "
                     "operator may allow it: setting self_approval)");
}

// What machines could not build is not approved.
static bool has_nets(Request *req, int64_t test, Error *err) {
    json_auto_t *missing = submit_missing_nets(req->db, test);
    if (!json_array_size(missing))
        return true;
    return error_set(err, 409, "net_missing",
                     "the test needs the net %s, which nobody has uploaded yet",
                     member_text(json_array_get(missing, 0), "sha256"));
}

// Where the page that was read carries its hash, approval is of exactly that.
static bool approve(Request *req, Response *res, Error *err) {
    int64_t test = request_id(req, 0);
    char hash[65];
    const char *seen;
    json_auto_t *row = submit_test_for(req, test, false, err);
    if (!row || !may_approve(req, row, err) || !optional_word(req, "hash", &seen, err) ||
        !has_nets(req, test, err))
        return false;
    if (!submit_approval_hash(req->db, test, hash))
        return error_set(err, 500, "internal", "the test's commits are not all there");
    if (*seen && strcmp(seen, hash) != 0)
        return error_set(err, 409, "changed",
                         "the test was changed since you looked at it; look again");
    Ledger ledger = ledger_of(req);
    return ledger_test_activate(&ledger, test, req->viewer.user_id, hash, err) &&
           answer_state(req, res, test);
}

static bool stop(Request *req, Response *res, Error *err) {
    int64_t test = request_id(req, 0);
    const char *reason;
    json_auto_t *row = submit_test_for(req, test, true, err);
    if (!row || !optional_word(req, "reason", &reason, err))
        return false;
    if (strlen(reason) > 500)
        return error_field(err, 422, "bad_field", "reason", "reason: at most 500 bytes");
    Ledger ledger = ledger_of(req);
    return ledger_test_stop(&ledger, test, req->viewer.user_id, reason, err) &&
           answer_state(req, res, test);
}

static bool pause_or_resume(Request *req, Response *res,
                            bool (*change)(const Ledger *, int64_t, int64_t, Error *), Error *err) {
    int64_t test = request_id(req, 0);
    json_auto_t *row = submit_test_for(req, test, true, err);
    if (!row)
        return false;
    Ledger ledger = ledger_of(req);
    return change(&ledger, test, req->viewer.user_id, err) && answer_state(req, res, test);
}

static bool pause_test(Request *req, Response *res, Error *err) {
    return pause_or_resume(req, res, ledger_test_pause, err);
}

static bool resume_test(Request *req, Response *res, Error *err) {
    return pause_or_resume(req, res, ledger_test_resume, err);
}

static bool modify(Request *req, Response *res, Error *err) {
    int64_t test = request_id(req, 0);
    return submit_modify(req, test, err) && answer_state(req, res, test);
}

// ---- merge

static bool merge_prepare(Request *req, Response *res, Error *err) {
    (void)res;
    req->state = submit_merge_prepare(req, request_id(req, 0), err);
    req->state_free = merge_free;
    return req->state;
}

static bool merge_apply(Request *req, Response *res, Error *err) {
    int64_t test = request_id(req, 0), retest;
    if (!submit_merge(req, req->state, &retest, err))
        return false;
    if (retest)
        return answer(
            req, res, retest, 201,
            json_pack("{s:I, s:I}", "id", (json_int_t)retest, "retest_of", (json_int_t)test));
    json_auto_t *row = db_row(req->db, SQL_TEST_FOR_CHANGE, "i", test);
    return answer(req, res, test, 200,
                  json_pack("{s:I, s:O}", "id", (json_int_t)test, "merged",
                            json_object_get(row, "merged_commit")));
}

// ---- diff

static bool diff(Request *req, Response *res, Error *err) {
    int64_t test = request_id(req, 0);
    json_auto_t *row = db_row(req->db, SQL_TEST_FOR_CHANGE, "i", test);
    if (!row)
        return error_set(err, 404, "no_such_test", "there is no test %lld", (long long)test);
    git_repository *repo scope(repo_free) =
        repo_open(app_data(req->app), json_string_value(json_object_get(row, "engine")), err);
    json_t *document =
        repo ? patch_document(repo, json_string_value(json_object_get(row, "base_commit")),
                              json_string_value(json_object_get(row, "new_commit")), DIFF_LINES_MAX,
                              err)
             : NULL;
    if (!document)
        return false;
    response_json(res, 200, document);
    return true;
}

#define ACTION(name, prepare, apply)                                                               \
    {"POST", "/api/v1/tests/{id}/" name, ACCESS_USER, ACTION_BODY_MAX, prepare, apply}, {          \
        "POST", "/tests/{id}/" name, ACCESS_USER, ACTION_BODY_MAX, prepare, apply                  \
    }

const Route routes_tests[] = {
    {"POST", "/api/v1/tests", ACCESS_USER, SUBMIT_BODY_MAX, submit_new_prepare, submit_new_apply},
    {"POST", "/tests/new", ACCESS_USER, SUBMIT_FORM_MAX, submit_new_prepare, submit_new_apply},
    ACTION("approve", NULL, approve),
    ACTION("stop", NULL, stop),
    ACTION("pause", NULL, pause_test),
    ACTION("resume", NULL, resume_test),
    ACTION("modify", NULL, modify),
    ACTION("merge", merge_prepare, merge_apply),
    {"GET", "/api/v1/tests/{id}/diff", ACCESS_ANYONE, 0, diff, NULL},
    {0},
};

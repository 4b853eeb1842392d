// What developers and maintainers do to tests, by form and by API: submit, approve, stop (as
// harmful, too), pause, resume, modify, merge; and the diff of a test. Forms answer with 303 to the
// test's page.
#include <string.h>

#include "server/common/json_member.h"
#include "server/common/one_line.h"
#include "server/http/handler.h"
#include "server/ledger/ledger.h"
#include "server/pages/page.h"
#include "server/routes/respond.h"
#include "server/routes/routes.h"
#include "server/submit/submit.h"

enum { ACTION_BODY_MAX = 64 << 10 };

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
    json_auto_t *row = db_row(req->turn->db, SQL_TEST_FOR_CHANGE, "i", test);
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
    if (!respond_disk_check(req, res, err))
        return false;
    req->state = submit_prepare(req, err);
    req->state_free = submission_free;
    if (!req->state && err->status == 429)
        response_header(res, "Retry-After", "1"); // one of the user's own is being looked at
    return req->state;
}

static bool submit_new_apply(Request *req, Response *res, Error *err) {
    res->form = form_template;
    int64_t test = submit_store(req, req->state, err);
    submission_end_turn(req->state); // before the reply, upon which the next may come
    return test && answer(req, res, test, 201,
                          json_pack("{s:I, s:o}", "id", (json_int_t)test, "missing_nets",
                                    submit_missing_nets(req->turn->db, test)));
}

// ---- approve, stop, pause, resume

// {"hash": of what was looked at, "unseen": whether also of what the diff only names}.
static bool approval_words(Request *req, const char **hash, int *unseen, Error *err) {
    *hash = NULL, *unseen = 0;
    if (!request_is_api(req)) {
        *hash = request_form(req, "hash", NULL);
        *unseen = request_form(req, "unseen", NULL) != NULL;
    } else if (req->body_size &&
               !request_json(req, err, "{s?s, s?b}", "hash", hash, "unseen", unseen))
        return false;
    *hash = *hash ? *hash : "";
    return true;
}

static bool approve_prepare(Request *req, Response *res, Error *err) {
    (void)res;
    const char *hash;
    int unseen;
    return approval_words(req, &hash, &unseen, err) &&
           submit_approve_prepare(req, request_id(req, 0), unseen, err);
}

static bool approve(Request *req, Response *res, Error *err) {
    int64_t test = request_id(req, 0);
    const char *hash;
    int unseen;
    return approval_words(req, &hash, &unseen, err) && submit_approve(req, test, hash, err) &&
           answer_state(req, res, test);
}

static bool optional_reason(Request *req, const char **reason, Error *err) {
    return optional_word(req, "reason", reason, err) &&
           one_line_check("reason", *reason, 0, 500, err);
}

static bool harmful_prepare(Request *req, Response *res, Error *err) {
    (void)res;
    return submit_harmful_prepare(req, request_id(req, 0), err);
}

static bool harmful(Request *req, Response *res, Error *err) {
    int64_t test = request_id(req, 0);
    const char *reason;
    json_auto_t *stopped = json_array();
    if (!optional_reason(req, &reason, err) || !submit_harmful(req, test, reason, stopped, err))
        return false;
    json_auto_t *row = db_row(req->turn->db, SQL_TEST_FOR_CHANGE, "i", test);
    return answer(req, res, test, 200,
                  json_pack("{s:I, s:O, s:O}", "id", (json_int_t)test, "state",
                            json_object_get(row, "state"), "stopped", stopped));
}

static bool stop(Request *req, Response *res, Error *err) {
    int64_t test = request_id(req, 0);
    const char *reason;
    json_auto_t *row = submit_test_for(req, test, true, err);
    if (!row || !optional_reason(req, &reason, err))
        return false;
    return ledger_test_stop(req->turn, test, req->viewer.user_id, reason, err) &&
           answer_state(req, res, test);
}

static bool pause_test(Request *req, Response *res, Error *err) {
    int64_t test = request_id(req, 0);
    json_auto_t *row = submit_test_for(req, test, true, err);
    return row && ledger_test_pause(req->turn, test, req->viewer.user_id, err) &&
           answer_state(req, res, test);
}

static bool resume_prepare(Request *req, Response *res, Error *err) {
    (void)res;
    return submit_resume_prepare(req, request_id(req, 0), err);
}

static bool resume_test(Request *req, Response *res, Error *err) {
    int64_t test = request_id(req, 0);
    return submit_resume(req, test, err) && answer_state(req, res, test);
}

// From the form or the JSON body.
static bool read_bench(Request *req, const char **side, int64_t *nodes, Error *err) {
    json_int_t number = 0;
    long from_form;
    if (request_is_api(req)) {
        bool good = request_json(req, err, "{s:s, s:I}", "side", side, "nodes", &number);
        *nodes = number;
        return good;
    }
    const char *text = request_form(req, "nodes", NULL);
    *side = request_form(req, "side", NULL);
    *side = *side ? *side : "";
    *nodes = text && parse_long(text, 1, 1000000000000000, &from_form) ? from_form : 0;
    return true;
}

static bool correct_bench(Request *req, Response *res, Error *err) {
    int64_t test = request_id(req, 0), nodes;
    const char *side;
    json_auto_t *row = submit_test_for(req, test, false, err);
    return row && read_bench(req, &side, &nodes, err) &&
           ledger_bench_correct_side(req->turn, test, side, nodes, req->viewer.user_id, err) &&
           answer_state(req, res, test);
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
    json_auto_t *row = db_row(req->turn->db, SQL_TEST_FOR_CHANGE, "i", test);
    return answer(req, res, test, 200,
                  json_pack("{s:I, s:O}", "id", (json_int_t)test, "merged",
                            json_object_get(row, "merged_commit")));
}

// ---- diff

static bool diff(Request *req, Response *res, Error *err) {
    response_text(res, 200, "application/json", "");
    DocContext ctx = page_context(req);
    if (doc_diff_kept(&ctx, request_id(req, 0), &res->body))
        return true;
    json_t *document = doc_diff(&ctx, request_id(req, 0), err);
    if (document)
        response_json(res, 200, document);
    return document;
}

#define ACTION(name, access, prepare, apply)                                                       \
    {"POST", "/api/v1/tests/{id}/" name, access, ACTION_BODY_MAX, prepare, apply}, {               \
        "POST", "/tests/{id}/" name, access, ACTION_BODY_MAX, prepare, apply                       \
    }

const Route routes_tests[] = {
    {"POST", "/api/v1/tests", ACCESS_USER, SUBMIT_BODY_MAX, submit_new_prepare, submit_new_apply},
    {"POST", "/tests/new", ACCESS_USER, SUBMIT_FORM_MAX, submit_new_prepare, submit_new_apply},
    ACTION("approve", ACCESS_PERSON, approve_prepare, approve),
    ACTION("harmful", ACCESS_PERSON, harmful_prepare, harmful),
    ACTION("stop", ACCESS_USER, NULL, stop),
    ACTION("pause", ACCESS_USER, NULL, pause_test),
    ACTION("resume", ACCESS_USER, resume_prepare, resume_test),
    ACTION("bench", ACCESS_PERSON, NULL, correct_bench),
    ACTION("modify", ACCESS_USER, NULL, modify),
    ACTION("merge", ACCESS_PERSON, merge_prepare, merge_apply),
    {"GET", "/api/v1/tests/{id}/diff", ACCESS_ANYONE, 0, diff, NULL},
    {0},
};

// The routes for tests: submit, approve, stop (also as harmful), pause, resume, reopen, modify,
// merge, and the diff. Each action is both a form and a call of the API. The reply to a form
// redirects to the page of the test.
#include <stdlib.h>
#include <string.h>

#include "server/common/one_line.h"
#include "server/http/handler.h"
#include "server/pages/doc_book.h"
#include "server/pages/doc_check.h"
#include "server/pages/page.h"
#include "server/routes/respond.h"
#include "server/routes/routes.h"
#include "server/routes/submitted.h"
#include "server/submit/actions.h"
#include "server/submit/approve.h"
#include "server/submit/harmful.h"
#include "server/submit/ideas.h"
#include "server/submit/merge.h"
#include "server/submit/modify.h"
#include "server/submit/undo.h"

enum { ACTION_BODY_MAX = 64 << 10 };

static const char form_template[] = "new";

// ---- answers

static bool answer(Request *req, Response *res, int64_t test, int status, json_t *document) {
    return respond_at(req, res, status, document, "/tests/%lld", (long long)test);
}

static bool answer_state(Request *req, Response *res, int64_t test) {
    SqlTestForChange row scope(sql_row_free) = {0};
    sql_test_for_change(req->turn->db, &row, test);
    return answer(req, res, test, 200,
                  json_pack("{s:I, s:s}", "id", (json_int_t)test, "state", row.state));
}

// ---- submit

// What arrived; without fields: 400 or 422.
static SubmitInput submit_input(Request *req, Error *err) {
    SubmitInput input = {.fields = submitted_fields(req, err), .patch = submitted_patch(req)};
    if (!request_is_api(req))
        input.net = submitted_net_of_form(req);
    return input;
}

static void say_when(Response *res, const Error *err) {
    if (err->status == 429)
        response_header(res, "Retry-After", strcmp(err->code, "one_at_a_time") == 0 ? "1" : "3600");
}

static bool submit_new_prepare(Request *req, Response *res, Error *err) {
    res->form = form_template;
    if (!respond_disk_check(req, res, err))
        return false;
    Caller caller = submitted_caller(req);
    SubmitInput input = submit_input(req, err);
    req->state = input.fields ? submit_prepare(&caller, input, err) : NULL;
    req->state_free = submission_free;
    if (!req->state)
        say_when(res, err);
    return req->state;
}

static bool submit_new_apply(Request *req, Response *res, Error *err) {
    res->form = form_template;
    Caller caller = submitted_caller(req);
    DocContext ctx = {.db = req->turn->db, .now = req->turn->now, .viewer = &req->viewer};
    int64_t test = submit_store(&caller, req->state, err);
    submission_end(req->state); // before the reply, because the client may send the next at once
    if (!test)
        return false;
    json_t *warnings = doc_submission_warnings(&ctx, test), *seen = ideas_of_test(ctx.db, test);
    if (json_is_string(json_object_get(seen, "text")))
        json_array_append(warnings, json_object_get(seen, "text"));
    return answer(req, res, test, 201,
                  json_pack("{s:I, s:o, s:o, s:o}", "id", (json_int_t)test, "missing_nets",
                            net_missing(ctx.db, test), "warnings", warnings, "seen_before", seen));
}

// ---- check

static void drop_submission(Submission **s) {
    submission_free(*s);
}

// Has no part in a turn, so that it cannot write.
static bool check(Request *req, Response *res, Error *err) {
    res->form = form_template;
    if (!respond_disk_check(req, res, err))
        return false;
    Caller caller = submitted_caller(req);
    DocContext ctx = page_context(req);
    json_auto_t *problems = json_array();
    SubmitInput input = submit_input(req, err);
    Submission *s scope(drop_submission) =
        input.fields ? submit_check(&caller, input, problems, err) : NULL;
    if (!s && (input.fields || err->status == 400 || !submission_problem(problems, err))) {
        say_when(res, err);
        return false;
    }
    json_t *document = doc_check(&ctx, s, problems, err);
    return document && page_check(req, res, document);
}

// ---- approve, stop, pause, resume

// {"hash": of the settings that the approver saw, "unseen": whether the approval covers files that
// the diff only names}.
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

static Ground *keep_ground(Request *req) {
    req->state = xcalloc(1, sizeof(Ground));
    req->state_free = free;
    return req->state;
}

static bool approve_prepare(Request *req, Response *res, Error *err) {
    (void)res;
    const char *hash;
    int unseen;
    Caller caller = submitted_caller(req);
    return approval_words(req, &hash, &unseen, err) &&
           submit_approve_prepare(&caller, request_id(req, 0), unseen, keep_ground(req), err);
}

static bool approve(Request *req, Response *res, Error *err) {
    int64_t test = request_id(req, 0);
    const char *hash;
    int unseen;
    Caller caller = submitted_caller(req);
    return approval_words(req, &hash, &unseen, err) &&
           submit_approve(&caller, test, req->state, hash, err) && answer_state(req, res, test);
}

// The reason for an action, from the form or from a JSON body; "" without it.
static bool optional_reason(Request *req, const char **reason, Error *err) {
    *reason = NULL;
    if (!request_is_api(req))
        *reason = request_form(req, "reason", NULL);
    else if (req->body_size && !request_json(req, err, "{s?s}", "reason", reason))
        return false;
    *reason = *reason ? *reason : "";
    return one_line_check("reason", *reason, 0, 500, err);
}

static bool harmful_prepare(Request *req, Response *res, Error *err) {
    (void)res;
    Caller caller = submitted_caller(req);
    req->state = submit_harmful_prepare(&caller, request_id(req, 0), err);
    req->state_free = harm_free;
    return req->state;
}

static bool harmful(Request *req, Response *res, Error *err) {
    int64_t test = request_id(req, 0);
    const char *reason;
    json_auto_t *stopped = json_array();
    Caller caller = submitted_caller(req);
    if (!optional_reason(req, &reason, err) ||
        !submit_harmful(&caller, req->state, reason, stopped, err))
        return false;
    SqlTestForChange row scope(sql_row_free) = {0};
    sql_test_for_change(req->turn->db, &row, test);
    return answer(req, res, test, 200,
                  json_pack("{s:I, s:s, s:O}", "id", (json_int_t)test, "state", row.state,
                            "stopped", stopped));
}

static bool stop(Request *req, Response *res, Error *err) {
    int64_t test = request_id(req, 0);
    const char *reason;
    Caller caller = submitted_caller(req);
    return submitted_right(req, ACTION_STOP, err) && optional_reason(req, &reason, err) &&
           submit_stop(&caller, test, reason, err) && answer_state(req, res, test);
}

static bool pause_test(Request *req, Response *res, Error *err) {
    int64_t test = request_id(req, 0);
    Caller caller = submitted_caller(req);
    return submit_pause(&caller, test, err) && answer_state(req, res, test);
}

static bool resume_prepare(Request *req, Response *res, Error *err) {
    (void)res;
    Caller caller = submitted_caller(req);
    return submit_resume_prepare(&caller, request_id(req, 0), keep_ground(req), err);
}

static bool resume_test(Request *req, Response *res, Error *err) {
    int64_t test = request_id(req, 0);
    Caller caller = submitted_caller(req);
    return submit_resume(&caller, test, req->state, err) && answer_state(req, res, test);
}

static bool reopen_prepare(Request *req, Response *res, Error *err) {
    (void)res;
    Caller caller = submitted_caller(req);
    return submit_reopen_prepare(&caller, request_id(req, 0), keep_ground(req), err);
}

static bool reopen(Request *req, Response *res, Error *err) {
    int64_t test = request_id(req, 0);
    const char *reason;
    Caller caller = submitted_caller(req);
    return optional_reason(req, &reason, err) && one_line_check("reason", reason, 1, 500, err) &&
           submit_reopen(&caller, test, req->state, reason, err) && answer_state(req, res, test);
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
    Caller caller = submitted_caller(req);
    return submitted_right(req, ACTION_BENCH, err) && read_bench(req, &side, &nodes, err) &&
           submit_correct_bench(&caller, test, side, nodes, err) && answer_state(req, res, test);
}

static bool modify(Request *req, Response *res, Error *err) {
    int64_t test = request_id(req, 0);
    Caller caller = submitted_caller(req);
    if (!submitted_right(req, ACTION_DESCRIBE, err))
        return false;
    json_t *fields = submitted_fields(req, err);
    return fields && submit_modify(&caller, test, fields, err) && answer_state(req, res, test);
}

// ---- merge

// {"turned": whether the maintainer merges a verdict that was turned}.
static bool merge_words(Request *req, int *turned, Error *err) {
    *turned = !request_is_api(req) && request_form(req, "turned", NULL);
    return !request_is_api(req) || !req->body_size ||
           request_json(req, err, "{s?b}", "turned", turned);
}

static bool merge_prepare(Request *req, Response *res, Error *err) {
    (void)res;
    int turned;
    Caller caller = submitted_caller(req);
    if (!merge_words(req, &turned, err))
        return false;
    req->state = submit_merge_prepare(
        &caller, (MergeAsk){.test = request_id(req, 0), .turned_too = turned}, err);
    req->state_free = merge_free;
    return req->state;
}

// The branch has moved: 200. A new test was submitted: 201. The merge is under way: 202.
static bool merge_apply(Request *req, Response *res, Error *err) {
    int64_t test = request_id(req, 0);
    MergeEnd end;
    Caller caller = submitted_caller(req);
    if (!submit_merge(&caller, req->state, &end, err))
        return false;
    SqlTestForChange row scope(sql_row_free) = {0};
    sql_test_for_change(req->turn->db, &row, end.retest ? end.retest : test);
    if (end.retest)
        return answer(req, res, end.retest, 201,
                      json_pack("{s:I, s:I, s:s}", "id", (json_int_t)end.retest, "retest_of",
                                (json_int_t)test, "state", row.state));
    if (end.waits || end.trial)
        return answer(req, res, test, 202,
                      json_pack("{s:I, s:s, s:o}", "id", (json_int_t)test, "merge",
                                end.waits ? "waiting" : "trial", "trial",
                                end.trial ? json_integer(end.trial) : json_null()));
    return answer(req, res, test, 200,
                  json_pack("{s:I, s:s}", "id", (json_int_t)test, "merged", row.merged_commit));
}

// ---- undoing a merge

static bool undo_prepare(Request *req, Response *res, Error *err) {
    (void)res;
    Caller caller = submitted_caller(req);
    req->state = submit_undo_prepare(&caller, request_id(req, 0), err);
    req->state_free = undo_free;
    return req->state;
}

static bool undo_apply(Request *req, Response *res, Error *err) {
    int64_t test = request_id(req, 0);
    Caller caller = submitted_caller(req);
    const MergeUndo *undo = req->state;
    return submit_undo(&caller, undo, err) && answer(req, res, test, 200,
                                                     json_pack("{s:I, s:s}", "id", (json_int_t)test,
                                                               "baseline", undo->record.info.sha));
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
    {"POST", "/api/v1/tests/check", ACCESS_USER, SUBMIT_BODY_MAX, check, NULL},
    {"POST", "/tests/check", ACCESS_USER, SUBMIT_FORM_MAX, check, NULL},
    ACTION("approve", ACCESS_PERSON, approve_prepare, approve),
    ACTION("harmful", ACCESS_PERSON, harmful_prepare, harmful),
    ACTION("stop", ACCESS_USER, NULL, stop),
    ACTION("pause", ACCESS_USER, NULL, pause_test),
    ACTION("resume", ACCESS_USER, resume_prepare, resume_test),
    ACTION("reopen", ACCESS_PERSON, reopen_prepare, reopen),
    ACTION("bench", ACCESS_PERSON, NULL, correct_bench),
    ACTION("modify", ACCESS_USER, NULL, modify),
    ACTION("merge", ACCESS_PERSON, merge_prepare, merge_apply),
    ACTION("undo", ACCESS_PERSON, undo_prepare, undo_apply),
    {"GET", "/api/v1/tests/{id}/diff", ACCESS_ANYONE, 0, diff, NULL},
    {0},
};

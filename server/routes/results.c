// The routes for results and machines: exclude batches from a test, include them again, readmit a
// machine to a test, block a machine, unblock it, re-test it, vouch for its owner or no longer.
// Each is both a form and a call of the API. The reply to a form redirects to the page of the form.
#include <string.h>
#include <time.h>

#include "server/common/one_line.h"
#include "server/http/handler.h"
#include "server/routes/respond.h"
#include "server/routes/routes.h"
#include "server/routes/submitted.h"
#include "server/submit/actions.h"

enum { BODY_MAX = 4096, REASON_MAX = 300 };

static bool reason_check(const char *reason, Error *err) {
    return one_line_check("reason", reason, 0, REASON_MAX, err);
}

static const char *form_text(Request *req, const char *name) {
    const char *text = request_form(req, name, NULL);
    return text ? text : "";
}

// ---- exclusions

static bool read_worker(Request *req, int64_t *worker, Error *err) {
    long id;
    if (!parse_long(form_text(req, "worker"), 1, INT64_MAX, &id))
        return error_field(err, 422, "bad_field", "worker", "choose a machine");
    *worker = id;
    return true;
}

// A time of a form is UTC, as the field gives it: 2026-11-26T10:30.
static bool read_time(Request *req, const char *name, double *out, Error *err) {
    struct tm tm = {0};
    const char *end = strptime(form_text(req, name), "%Y-%m-%dT%H:%M", &tm);
    if (!end || *end)
        return error_field(err, 422, "bad_field", name, "%s is a date and a time", name);
    *out = (double)timegm(&tm);
    return true;
}

static bool read_id(Request *req, const char *name, int64_t *id, Error *err) {
    long number;
    if (!parse_long(form_text(req, name), 1, INT64_MAX, &number))
        return error_field(err, 422, "bad_field", name, "%s is a number", name);
    *id = number;
    return true;
}

static bool read_exclusion_form(Request *req, Exclusion *x, Error *err) {
    x->kind = form_text(req, "kind");
    x->which = form_text(req, "which");
    x->reason = form_text(req, "reason");
    if (strcmp(x->kind, "task") == 0)
        return read_id(req, "task", &x->task, err);
    if (strcmp(x->kind, "window") == 0)
        return read_time(req, "from", &x->since, err) && read_time(req, "to", &x->until, err);
    return read_worker(req, &x->worker, err);
}

static bool read_exclusion_json(Request *req, Exclusion *x, Error *err) {
    json_int_t worker = 0, task = 0;
    x->reason = "";
    if (!request_json(req, err, "{s:s, s?I, s?I, s?F, s?F, s:s, s?s}", "kind", &x->kind, "worker",
                      &worker, "task", &task, "from", &x->since, "to", &x->until, "which",
                      &x->which, "reason", &x->reason))
        return false;
    x->worker = worker;
    x->task = task;
    return true;
}

static bool read_exclusion(Request *req, Exclusion *x, Error *err) {
    *x = (Exclusion){.test = request_id(req, 0)};
    return (request_is_api(req) ? read_exclusion_json : read_exclusion_form)(req, x, err) &&
           reason_check(x->reason, err);
}

static bool read_inclusion(Request *req, Inclusion *x, Error *err) {
    json_int_t id = 0;
    *x = (Inclusion){.test = request_id(req, 0), .reason = ""};
    if (request_is_api(req)) {
        if (!request_json(req, err, "{s:I, s?s}", "exclusion", &id, "reason", &x->reason))
            return false;
        x->exclusion = id;
    } else {
        x->reason = form_text(req, "reason");
        if (!read_id(req, "exclusion", &x->exclusion, err))
            return false;
    }
    return reason_check(x->reason, err);
}

static bool read_one_worker(Request *req, int64_t *worker, Error *err) {
    json_int_t id = 0;
    if (!request_is_api(req))
        return read_worker(req, worker, err);
    if (!request_json(req, err, "{s:I}", "worker", &id))
        return false;
    *worker = id;
    return true;
}

static bool answer_excluded(Request *req, Response *res, int64_t test, const Excluded *changed) {
    SqlTestForChange row scope(sql_row_free) = {0};
    sql_test_for_change(req->turn->db, &row, test);
    return respond_at(req, res, 200,
                      json_pack("{s:I, s:s, s:I, s:I}", "id", (json_int_t)test, "state", row.state,
                                "batches", (json_int_t)changed->batches, "pairs",
                                (json_int_t)changed->pairs),
                      "/tests/%lld#workers", (long long)test);
}

static bool exclude_prepare(Request *req, Response *res, Error *err) {
    Exclusion exclusion;
    (void)res;
    req->state_free = ledger_recount_free;
    return submitted_right(req, ACTION_EXCLUDE, err) && read_exclusion(req, &exclusion, err) &&
           (req->state = ledger_exclude_prepare(req->turn, &exclusion, err));
}

static bool exclude(Request *req, Response *res, Error *err) {
    Exclusion exclusion;
    Excluded changed = {0};
    Caller caller = submitted_caller(req);
    return read_exclusion(req, &exclusion, err) &&
           submit_exclude(&caller, &exclusion, req->state, &changed, err) &&
           answer_excluded(req, res, exclusion.test, &changed);
}

static bool include_prepare(Request *req, Response *res, Error *err) {
    Inclusion inclusion;
    (void)res;
    req->state_free = ledger_recount_free;
    return submitted_right(req, ACTION_INCLUDE, err) && read_inclusion(req, &inclusion, err) &&
           (req->state =
                ledger_include_prepare(req->turn, inclusion.test, inclusion.exclusion, err));
}

static bool include(Request *req, Response *res, Error *err) {
    Inclusion inclusion;
    Excluded changed = {0};
    Caller caller = submitted_caller(req);
    return read_inclusion(req, &inclusion, err) &&
           submit_include(&caller, &inclusion, req->state, &changed, err) &&
           answer_excluded(req, res, inclusion.test, &changed);
}

static bool readmit(Request *req, Response *res, Error *err) {
    int64_t test = request_id(req, 0), worker = 0;
    Caller caller = submitted_caller(req);
    return submitted_right(req, ACTION_READMIT, err) && read_one_worker(req, &worker, err) &&
           submit_readmit(&caller, test, worker, err) &&
           respond_at(req, res, 200,
                      json_pack("{s:I, s:I}", "id", (json_int_t)test, "worker", (json_int_t)worker),
                      "/tests/%lld#workers", (long long)test);
}

// ---- machines

static bool read_reason(Request *req, const char **reason, Error *err) {
    *reason = "";
    if (!request_is_api(req))
        *reason = form_text(req, "reason");
    else if (req->body_size && !request_json(req, err, "{s?s}", "reason", reason))
        return false;
    return reason_check(*reason, err);
}

static bool set_blocked(Request *req, Response *res, bool block, Error *err) {
    int64_t machine = request_id(req, 0);
    const char *reason;
    Caller caller = submitted_caller(req);
    if (!right_to_block(&caller, err) || !read_reason(req, &reason, err) ||
        !submit_block(&caller, machine, block, reason, err))
        return false;
    return respond_at(req, res, 200,
                      json_pack("{s:I, s:b}", "id", (json_int_t)machine, "blocked", (int)block),
                      "/machines/%lld", (long long)machine);
}

static bool block(Request *req, Response *res, Error *err) {
    return set_blocked(req, res, true, err);
}

static bool unblock(Request *req, Response *res, Error *err) {
    return set_blocked(req, res, false, err);
}

static bool retest(Request *req, Response *res, Error *err) {
    int64_t machine = request_id(req, 0);
    const char *reason;
    Caller caller = submitted_caller(req);
    return right_to_block(&caller, err) && read_reason(req, &reason, err) &&
           submit_retest(&caller, machine, reason, err) &&
           respond_at(req, res, 200, json_pack("{s:I}", "id", (json_int_t)machine),
                      "/machines/%lld", (long long)machine);
}

static bool set_vouched(Request *req, Response *res, bool vouch, Error *err) {
    int64_t machine = request_id(req, 0);
    const char *reason;
    Caller caller = submitted_caller(req);
    if (!right_to_vouch(&caller, err) || !read_reason(req, &reason, err) ||
        !submit_vouch(&caller, machine, vouch, reason, err))
        return false;
    return respond_at(req, res, 200,
                      json_pack("{s:I, s:b}", "id", (json_int_t)machine, "vouched", (int)vouch),
                      "/machines/%lld", (long long)machine);
}

static bool vouch(Request *req, Response *res, Error *err) {
    return set_vouched(req, res, true, err);
}

static bool unvouch(Request *req, Response *res, Error *err) {
    return set_vouched(req, res, false, err);
}

const Route routes_results[] = {
    {"POST", "/api/v1/tests/{id}/exclude", ACCESS_PERSON, BODY_MAX, exclude_prepare, exclude},
    {"POST", "/tests/{id}/exclude", ACCESS_PERSON, BODY_MAX, exclude_prepare, exclude},
    {"POST", "/api/v1/tests/{id}/include", ACCESS_PERSON, BODY_MAX, include_prepare, include},
    {"POST", "/tests/{id}/include", ACCESS_PERSON, BODY_MAX, include_prepare, include},
    {"POST", "/api/v1/tests/{id}/readmit", ACCESS_PERSON, BODY_MAX, NULL, readmit},
    {"POST", "/tests/{id}/readmit", ACCESS_PERSON, BODY_MAX, NULL, readmit},
    {"POST", "/api/v1/machines/{id}/block", ACCESS_PERSON, BODY_MAX, NULL, block},
    {"POST", "/machines/{id}/block", ACCESS_PERSON, BODY_MAX, NULL, block},
    {"POST", "/api/v1/machines/{id}/unblock", ACCESS_PERSON, BODY_MAX, NULL, unblock},
    {"POST", "/machines/{id}/unblock", ACCESS_PERSON, BODY_MAX, NULL, unblock},
    {"POST", "/api/v1/machines/{id}/retest", ACCESS_PERSON, BODY_MAX, NULL, retest},
    {"POST", "/machines/{id}/retest", ACCESS_PERSON, BODY_MAX, NULL, retest},
    {"POST", "/api/v1/machines/{id}/vouch", ACCESS_PERSON, BODY_MAX, NULL, vouch},
    {"POST", "/machines/{id}/vouch", ACCESS_PERSON, BODY_MAX, NULL, vouch},
    {"POST", "/api/v1/machines/{id}/unvouch", ACCESS_PERSON, BODY_MAX, NULL, unvouch},
    {"POST", "/machines/{id}/unvouch", ACCESS_PERSON, BODY_MAX, NULL, unvouch},
    {0},
};

// The routes by which an account asks for the role developer of an engine, and by which maintainers
// of the engine and admins answer.
#include "server/pages/page.h"
#include "server/routes/respond.h"
#include "server/routes/routes.h"
#include "server/routes/submitted.h"
#include "server/submit/role_request.h"

enum { BODY_MAX = 4096 };

static const char form_template[] = "roles";

static bool roles(Request *req, Response *res, Error *err) {
    (void)err;
    DocContext ctx = page_context(req);
    return page_roles(req, res, doc_roles(&ctx));
}

static bool read_ask(Request *req, const char **engine, const char **text, Error *err) {
    *engine = *text = NULL;
    if (request_is_api(req)) {
        if (!request_json(req, err, "{s?s, s:s}", "engine", engine, "text", text))
            return false;
    } else {
        *engine = request_form(req, "engine", NULL);
        *text = request_form(req, "text", NULL);
    }
    *engine = *engine ? *engine : "";
    return *text || error_field(err, 422, "missing_field", "text",
                                "text: say in one line who you are and what you want to test");
}

static bool ask(Request *req, Response *res, Error *err) {
    const char *engine, *text;
    Caller caller = submitted_caller(req);
    res->form = form_template;
    return read_ask(req, &engine, &text, err) && role_request_ask(&caller, engine, text, err) &&
           respond(req, res, 201, json_pack("{s:s, s:s}", "role", "developer", "text", text),
                   "/roles");
}

static bool answer(Request *req, Response *res, bool give, Error *err) {
    Caller caller = submitted_caller(req);
    json_t *document = role_request_answer(&caller, request_id(req, 0), give, err);
    return document && respond(req, res, 200, document, "/roles");
}

static bool give(Request *req, Response *res, Error *err) {
    return answer(req, res, true, err);
}

static bool decline(Request *req, Response *res, Error *err) {
    return answer(req, res, false, err);
}

const Route routes_roles[] = {
    {"GET", "/roles", ACCESS_USER, 0, roles, NULL},
    {"GET", "/api/v1/roles", ACCESS_USER, 0, roles, NULL},
    {"POST", "/roles", ACCESS_PERSON, BODY_MAX, NULL, ask},
    {"POST", "/api/v1/roles", ACCESS_PERSON, BODY_MAX, NULL, ask},
    {"POST", "/roles/{id}/give", ACCESS_PERSON, BODY_MAX, NULL, give},
    {"POST", "/api/v1/roles/{id}/give", ACCESS_PERSON, BODY_MAX, NULL, give},
    {"POST", "/roles/{id}/decline", ACCESS_PERSON, BODY_MAX, NULL, decline},
    {"POST", "/api/v1/roles/{id}/decline", ACCESS_PERSON, BODY_MAX, NULL, decline},
    {0},
};

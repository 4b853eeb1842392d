// The routes for the viewer's own account: show the account, change the password, make and revoke
// API tokens.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/accounts/own_account.h"
#include "server/accounts/password.h"
#include "server/http/request.h"
#include "server/pages/page.h"
#include "server/routes/respond.h"
#include "server/routes/routes.h"
#include "server/submit/quota.h"
#include "sql/users.h"

enum { BODY_MAX = 4096 };

// ---- password -----------------------------------------------------------------------------------

typedef struct NewPassword {
    char *hash;     // NULL: the old password was wrong
    int end_tokens; // also ends the API tokens
} NewPassword;

static void free_new_password(void *state) {
    free(((NewPassword *)state)->hash);
    free(state);
}

// A browser does not send a box that is not ticked. So in a form, a missing `end_tokens` keeps the
// tokens; in a call of the API it ends them.
static bool read_passwords(Request *req, const char **old, const char **new, int *end_tokens,
                           Error *err) {
    *end_tokens = 1;
    if (request_is_api(req))
        return request_json(req, err, "{s:s,s:s,s?b}", "old", old, "password", new, "end_tokens",
                            end_tokens);
    *old = request_form(req, "old", NULL);
    *new = request_form(req, "password", NULL);
    *end_tokens = request_form(req, "end_tokens", NULL) != NULL;
    return (*old && *new) || error_field(err, 422, "bad_request", *old ? "password" : "old",
                                         "the old and the new password are required");
}

static bool may_try(Request *req, Response *res, Error *err) {
    double wait;
    if (own_password_may_try(req->turn, &req->viewer, &wait, err))
        return true;
    response_header(res, "Retry-After", "%.0f", ceil(wait));
    return false;
}

static bool password_prepare(Request *req, Response *res, Error *err) {
    const char *old, *new;
    NewPassword *state = xcalloc(1, sizeof *state);
    req->state = state;
    req->state_free = free_new_password;
    res->form = "account";
    if (!read_passwords(req, &old, &new, &state->end_tokens, err) || !password_check(new, err) ||
        !may_try(req, res, err))
        return false;
    state->hash = own_password_hash(req->turn->db, &req->viewer, old, new);
    return true;
}

static bool wrong_password(Request *req, Error *err) {
    Error answer;
    error_field(&answer, 403, "wrong_password", "old", "the old password is wrong");
    request_refuse(req->data, &answer);
    return own_password_failed(req->turn, &req->viewer, err);
}

static bool password_apply(Request *req, Response *res, Error *err) {
    const NewPassword *state = req->state;
    if (!may_try(req, res, err))
        return false;
    if (!state->hash)
        return wrong_password(req, err);
    if (!own_password_set(req->turn, &req->viewer, state->hash, state->end_tokens, err))
        return false;
    return respond(req, res, 200, json_object(), "/account?changed=password");
}

// ---- tokens -------------------------------------------------------------------------------------

// Name and scope are borrowed from the request.
static bool read_token(Request *req, NewToken *token, Error *err) {
    if (request_is_api(req))
        return request_json(req, err, "{s:s,s:s}", "name", &token->name, "scope", &token->scope);
    token->name = request_form(req, "name", NULL);
    token->scope = request_form(req, "scope", NULL);
    return (token->name && token->scope) ||
           error_field(err, 422, "bad_request", token->name ? "scope" : "name",
                       "a name and a scope are required");
}

static bool token_prepare(Request *req, Response *res, Error *err) {
    NewToken *token = xcalloc(1, sizeof *token);
    req->state = token;
    req->state_free = free;
    res->form = "account";
    return read_token(req, token, err) && own_token_check(&req->viewer, token, err);
}

// Only this reply shows the token; the database keeps its hash.
static bool token_apply(Request *req, Response *res, Error *err) {
    NewToken *new = req->state;
    if (!own_token_make(req->turn, &req->viewer, new, err))
        return false;
    json_auto_t *document = json_pack("{s:I,s:s,s:s,s:s}", "id", (json_int_t) new->id, "name",
                                      new->name, "scope", new->scope, "token", new->token);
    if (request_is_api(req))
        response_json(res, 201, json_incref(document));
    else
        page_token_made(req, res, document);
    return true;
}

static bool token_revoke(Request *req, Response *res, Error *err) {
    if (!own_token_revoke(req->turn, &req->viewer, request_id(req, 0), err))
        return false;
    return respond(req, res, 200, json_object(), "/account?changed=token");
}

static bool account_show(Request *req, Response *res, Error *err) {
    (void)err;
    const Viewer *viewer = &req->viewer;
    json_t *user = user_document(viewer->user_id, viewer->name, viewer->admin);
    json_object_set_new(user, "roles", sql_roles_of_user(req->turn->db, viewer->user_id));
    json_object_set_new(user, "tokens", sql_tokens_of_user(req->turn->db, viewer->user_id));
    json_object_set_new(user, "submitted",
                        quota_of(req->turn->db, viewer->user_id, req->turn->now));
    response_json(res, 200, json_pack("{s:o,s:s}", "user", user, "csrf", viewer->csrf));
    return true;
}

const Route routes_account[] = {
    {"GET", "/api/v1/account", ACCESS_USER, 0, account_show, NULL},
    {"POST", "/account/password", ACCESS_PERSON, BODY_MAX, password_prepare, password_apply},
    {"POST", "/api/v1/account/password", ACCESS_PERSON, BODY_MAX, password_prepare, password_apply},
    {"POST", "/account/tokens", ACCESS_PERSON, BODY_MAX, token_prepare, token_apply},
    {"POST", "/api/v1/tokens", ACCESS_PERSON, BODY_MAX, token_prepare, token_apply},
    {"POST", "/account/tokens/{id}/revoke", ACCESS_PERSON, BODY_MAX, NULL, token_revoke},
    {"POST", "/api/v1/tokens/{id}/revoke", ACCESS_PERSON, BODY_MAX, NULL, token_revoke},
    {0},
};

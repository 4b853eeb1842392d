// The routes for the viewer's own account: show it, change the password, make and revoke API tokens.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/accounts/password.h"
#include "server/accounts/users.h"
#include "server/common/hash.h"
#include "server/common/one_line.h"
#include "server/http/request.h"
#include "server/pages/page.h"
#include "server/routes/respond.h"
#include "server/routes/users_handlers.h"

// ---- password -----------------------------------------------------------------------------------

typedef struct NewPassword {
    char *hash;     // NULL: the old one was wrong
    int end_tokens; // API tokens, too
} NewPassword;

static void free_new_password(void *state) {
    free(((NewPassword *)state)->hash);
    free(state);
}

// A box that is not ticked is not sent; a script that says nothing ends the tokens.
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
                                         "the old and the new password are needed");
}

// Whom wrong passwords count against: the session, or an admin's tokens together.
static const char *guesser(const Viewer *viewer) {
    return *viewer->session_hash ? viewer->session_hash : viewer->name;
}

static bool may_try(Request *req, Response *res, Error *err) {
    double wait;
    if (change_may_try(req->turn->db, guesser(&req->viewer), req->turn->now, &wait, err))
        return true;
    response_header(res, "Retry-After", "%.0f", ceil(wait));
    return false;
}

bool password_prepare(Request *req, Response *res, Error *err) {
    const char *old, *new;
    NewPassword *state = xcalloc(1, sizeof *state);
    req->state = state;
    req->state_free = free_new_password;
    res->form = "account";
    if (!read_passwords(req, &old, &new, &state->end_tokens, err) || !password_check(new, err) ||
        !may_try(req, res, err))
        return false;
    json_auto_t *user = db_row(req->turn->db, SQL_USER_BY_ID, "i", req->viewer.user_id);
    const char *stored = json_string_value(json_object_get(user, "password"));
    if (stored && password_matches(stored, old))
        state->hash = password_hash(new);
    return true;
}

static bool wrong_password(Request *req, Error *err) {
    Error answer;
    error_field(&answer, 403, "wrong_password", "old", "the old password is wrong");
    request_refuse(req->data, &answer);
    return change_failed(req->turn->db, guesser(&req->viewer), req->turn->now, err);
}

bool password_apply(Request *req, Response *res, Error *err) {
    const NewPassword *state = req->state;
    const Viewer *viewer = &req->viewer;
    if (!may_try(req, res, err))
        return false;
    if (!state->hash)
        return wrong_password(req, err);
    if (!db_run(req->turn->db, err, SQL_USER_SET_PASSWORD, "is", viewer->user_id, state->hash) ||
        !db_run(req->turn->db, err, SQL_SESSIONS_REMOVE_OTHERS, "is", viewer->user_id,
                viewer->session_hash) ||
        (state->end_tokens &&
         !db_run(req->turn->db, err, SQL_TOKENS_REMOVE_ALL, "i", viewer->user_id)))
        return false;
    return respond(req, res, 200, json_object(), "/account?changed=password");
}

// ---- tokens -------------------------------------------------------------------------------------

typedef struct NewToken {
    const char *name, *scope; // borrowed from the request
} NewToken;

static bool read_token(Request *req, NewToken *token, Error *err) {
    if (request_is_api(req))
        return request_json(req, err, "{s:s,s:s}", "name", &token->name, "scope", &token->scope);
    token->name = request_form(req, "name", NULL);
    token->scope = request_form(req, "scope", NULL);
    return (token->name && token->scope) ||
           error_field(err, 422, "bad_request", token->name ? "scope" : "name",
                       "name and scope are needed");
}

static bool check_token(const Request *req, const NewToken *token, Error *err) {
    if (!one_line_check("name", token->name, 1, 64, err))
        return false;
    bool admin = !strcmp(token->scope, "admin");
    if (!admin && strcmp(token->scope, "submit") != 0 && strcmp(token->scope, "worker") != 0)
        return error_field(err, 422, "bad_scope", "scope", "a scope is submit, worker or admin");
    return !admin || req->viewer.admin ||
           error_field(err, 403, "forbidden", "scope", "only an admin has tokens of that scope");
}

bool token_prepare(Request *req, Response *res, Error *err) {
    NewToken *token = xcalloc(1, sizeof *token);
    req->state = token;
    req->state_free = free;
    res->form = "account";
    return read_token(req, token, err) && check_token(req, token, err);
}

// The token is shown this once; only its hash is kept.
bool token_apply(Request *req, Response *res, Error *err) {
    const NewToken *new = req->state;
    char token[TOKEN_MAX], hash[SHA256_HEX_MAX];
    token_random(token);
    sha256_hex(token, strlen(token), hash);
    if (!db_write(req->turn->db, err, SQL_TOKEN_ADD,
                  json_pack("{s:I, s:s, s:s, s:s, s:f}", "user_id", (json_int_t)req->viewer.user_id,
                            "token_hash", hash, "scope", new->scope, "name", new->name, "created",
                            req->turn->now)))
        return false;
    json_auto_t *document =
        json_pack("{s:I,s:s,s:s,s:s}", "id", (json_int_t)db_last_id(req->turn->db), "name",
                  new->name, "scope", new->scope, "token", token);
    if (request_is_api(req))
        response_json(res, 201, json_incref(document));
    else
        page_token_made(req, res, document);
    return true;
}

bool token_revoke(Request *req, Response *res, Error *err) {
    if (!db_run(req->turn->db, err, SQL_TOKEN_REMOVE, "ii", request_id(req, 0),
                req->viewer.user_id))
        return false;
    if (!db_changes(req->turn->db))
        return error_set(err, 404, "no_such_token", "you have no such token");
    return respond(req, res, 200, json_object(), "/account?changed=token");
}

bool account_show(Request *req, Response *res, Error *err) {
    (void)err;
    const Viewer *viewer = &req->viewer;
    json_t *user = user_document(viewer->user_id, viewer->name, viewer->admin);
    json_object_set_new(user, "roles",
                        db_rows(req->turn->db, SQL_ROLES_OF_USER, "i", viewer->user_id));
    json_object_set_new(user, "tokens",
                        db_rows(req->turn->db, SQL_TOKENS_OF_USER, "i", viewer->user_id));
    response_json(res, 200, json_pack("{s:o,s:s}", "user", user, "csrf", viewer->csrf));
    return true;
}

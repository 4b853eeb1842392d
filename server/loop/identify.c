// See session.h.
#include "server/loop/identify.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "server/common/hash.h"
#include "server/common/json_member.h"
#include "server/loop/app.h"

static const char session_cookie[] = "patchmate_session", device_cookie[] = "patchmate_device";

static void viewer_fill(Viewer *viewer, const json_t *row) {
    viewer->user_id = member_int(row, "id");
    viewer->admin = member_int(row, "admin") == 1;
    snprintf(viewer->name, sizeof viewer->name, "%s",
             json_string_value(json_object_get(row, "name")));
}

// A token is noted as used once an hour, not with every request.
static void token_note(Turn *turn, const json_t *row) {
    if (turn->now - member_real(row, "last_used") > 3600)
        turn_note_token(turn, member_int(row, "token_id"));
}

static bool by_user_token(RequestData *data, const char *hash) {
    json_auto_t *row = db_row(data->req.turn->db, SQL_TOKEN_VIEWER, "s", hash);
    Viewer *viewer = &data->req.viewer;
    if (!row)
        return false;
    viewer_fill(viewer, row);
    snprintf(viewer->scope, sizeof viewer->scope, "%s",
             json_string_value(json_object_get(row, "scope")));
    viewer->admin &= !strcmp(viewer->scope, "admin");
    token_note(data->req.turn, row);
    return true;
}

static bool by_worker_token(RequestData *data, const char *hash) {
    json_auto_t *row = db_row(data->req.turn->db, SQL_WORKER_VIEWER, "s", hash);
    if (!row)
        return false;
    data->req.viewer.worker_id = member_int(row, "id");
    snprintf(data->owner, sizeof data->owner, "%s",
             json_string_value(json_object_get(row, "owner")));
    snprintf(data->req.viewer.name, sizeof data->req.viewer.name, "%s",
             json_string_value(json_object_get(row, "name")));
    snprintf(data->req.viewer.barred, sizeof data->req.viewer.barred, "%s",
             json_string_value(json_object_get(row, "barred")));
    return true;
}

static void by_cookie(RequestData *data) {
    const Pair *cookie = pairs_find(&data->cookies, session_cookie);
    Viewer *viewer = &data->req.viewer;
    char hash[SHA256_HEX_MAX];
    if (!cookie)
        return;
    sha256_hex(cookie->value, cookie->size, hash);
    json_auto_t *row =
        db_row(data->req.turn->db, SQL_SESSION_VIEWER, "sd", hash, data->req.turn->now);
    if (!row)
        return;
    viewer_fill(viewer, row);
    viewer->by_cookie = true;
    snprintf(viewer->csrf, sizeof viewer->csrf, "%s",
             json_string_value(json_object_get(row, "csrf")));
    snprintf(viewer->session_hash, sizeof viewer->session_hash, "%s", hash);
}

static const char *bearer_token(const Request *req) {
    const char *header = request_header(req, "Authorization");
    return header && !strncasecmp(header, "Bearer ", 7) ? header + 7 : NULL;
}

bool viewer_identify(RequestData *data, Error *err) {
    const char *token = bearer_token(&data->req);
    char hash[SHA256_HEX_MAX];
    if (!token) {
        by_cookie(data);
        return true;
    }
    sha256_hex(token, strlen(token), hash);
    bool worker_first = access_is_worker(data->route->access);
    if (worker_first ? by_worker_token(data, hash) || by_user_token(data, hash)
                     : by_user_token(data, hash) || by_worker_token(data, hash))
        return true;
    return error_set(err, 401, "bad_token", "the token is unknown or was revoked");
}

bool access_is_worker(Access access) {
    return access == ACCESS_WORKER || access == ACCESS_WORKER_ENDS;
}

bool machine_may_work(const char *barred, Error *err) {
    if (!strcmp(barred, "token"))
        return error_set(err, 403, "token_revoked",
                         "the token that this machine was registered with was revoked; start the "
                         "worker with a new one");
    if (!strcmp(barred, "owner"))
        return error_set(err, 403, "blocked", "the account of this machine is not active");
    return !*barred || error_set(err, 403, "blocked", "this machine is blocked; ask the operator");
}

bool viewer_may(const Viewer *viewer, Access access, Error *err) {
    bool signed_in = viewer->user_id && strcmp(viewer->scope, "worker") != 0;
    switch (access) {
    case ACCESS_ANYONE:
        return true;
    case ACCESS_WORKER:
    case ACCESS_WORKER_ENDS:
        if (!viewer->worker_id)
            return error_set(err, 401, "bad_token", "a worker's token is needed");
        return access == ACCESS_WORKER_ENDS || machine_may_work(viewer->barred, err);
    case ACCESS_USER:
        return signed_in || error_set(err, 401, "unauthorized", "sign in first");
    case ACCESS_PERSON:
        if (!signed_in)
            return error_set(err, 401, "unauthorized", "sign in first");
        return strcmp(viewer->scope, "submit") != 0 ||
               error_set(err, 403, "forbidden", "a token of scope submit may not do this");
    case ACCESS_ADMIN:
        if (!signed_in)
            return error_set(err, 401, "unauthorized", "sign in first");
        return viewer->admin || error_set(err, 403, "forbidden", "only an admin may do this");
    }
    return false;
}

static bool viewer_equals(const Viewer *a, const Viewer *b) {
    return a->user_id == b->user_id && a->worker_id == b->worker_id && a->admin == b->admin &&
           a->by_cookie == b->by_cookie && !strcmp(a->scope, b->scope) &&
           !strcmp(a->session_hash, b->session_hash);
}

// Whatever is open to all may still be done by a visitor whose session has ended: logging out
// twice, say.
bool viewer_again(RequestData *data, Error *err) {
    Turn *turn = data->req.turn;
    Viewer was = data->req.viewer, *is = &data->req.viewer;
    int noted = turn->token_count; // noted when the headers came
    *is = (Viewer){0};
    bool known = viewer_identify(data, err) && viewer_may(is, data->route->access, err);
    turn->token_count = noted;
    if (!known || viewer_equals(&was, is))
        return known;
    if (!is->user_id && !is->worker_id)
        return data->route->access == ACCESS_ANYONE ||
               error_set(err, 401, "unauthorized",
                         "your session ended while the request was on its way; sign in again");
    return error_set(err, 403, "forbidden",
                     "your rights changed while the request was on its way; try again");
}

// ---- other sites --------------------------------------------------------------------------------

static bool same_host(const Request *req, const char *origin) {
    const char *host = request_header(req, "Host"), *at = strstr(origin, "://");
    return host && at && !strcasecmp(at + 3, host);
}

static bool from_our_page(const Request *req) {
    const char *site = request_header(req, "Sec-Fetch-Site");
    const char *origin = request_header(req, "Origin");
    if (site)
        return !strcmp(site, "same-origin") || !strcmp(site, "none");
    return !origin || same_host(req, origin); // no browser: nobody's session to borrow
}

static bool needs_token(const Request *req) {
    static const char *const open[] = {"/login", "/signup", "/api/v1/login", "/api/v1/users"};
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        if (!strcmp(req->path, open[i]))
            return false;
    return req->viewer.by_cookie;
}

// Compared in constant time, as tokens are.
static bool same_token(const char *given, const char *wanted) {
    size_t size = strlen(wanted);
    unsigned char differ = 0;
    if (!given || strlen(given) != size)
        return false;
    for (size_t i = 0; i < size; i++)
        differ |= (unsigned char)(given[i] ^ wanted[i]);
    return !differ;
}

bool viewer_check_csrf(const RequestData *data, Error *err) {
    const Request *req = &data->req;
    if (!strcmp(req->method, "GET") || bearer_token(req))
        return true;
    if (!from_our_page(req))
        return error_set(err, 403, "other_site", "the request came from another site's page");
    if (!needs_token(req))
        return true;
    const char *token = request_header(req, "X-CSRF-Token");
    if (same_token(token ? token : request_form(req, "csrf", NULL), req->viewer.csrf))
        return true;
    return error_field(err, 403, "bad_csrf", "csrf",
                       "the page is too old or was not ours; load it again and repeat");
}

// ---- sessions -----------------------------------------------------------------------------------

static void set_cookie(Request *req, Response *res, const char *name, const char *value, long age) {
    response_header(res, "Set-Cookie", "%s=%s; Path=/; Max-Age=%ld; HttpOnly; SameSite=Lax%s", name,
                    value, age, req->data->https ? "; Secure" : "");
}

bool session_start(Request *req, Response *res, int64_t user_id, char csrf[48], Error *err) {
    char token[TOKEN_MAX], hash[SHA256_HEX_MAX];
    token_random(token);
    token_random(csrf);
    sha256_hex(token, strlen(token), hash);
    if (!db_run(req->turn->db, err, SQL_SESSION_ADD, "sissdd", hash, user_id, csrf, req->address,
                req->turn->now, req->turn->now + SESSION_SECONDS))
        return false;
    set_cookie(req, res, session_cookie, token, SESSION_SECONDS);
    return true;
}

bool session_end(Request *req, Response *res, Error *err) {
    set_cookie(req, res, session_cookie, "", 0);
    return db_run(req->turn->db, err, SQL_SESSION_REMOVE, "s", req->viewer.session_hash);
}

// ---- browsers -----------------------------------------------------------------------------------

static void device_name(const char *token, size_t size, char out[DEVICE_MAX]) {
    char hash[SHA256_HEX_MAX];
    snprintf(out, DEVICE_MAX, "device %.32s", sha256_hex(token, size, hash));
}

bool device_of(const Request *req, char out[DEVICE_MAX]) {
    const Pair *cookie = pairs_find(&req->data->cookies, device_cookie);
    if (cookie)
        device_name(cookie->value, cookie->size, out);
    return cookie;
}

void device_start(Request *req, Response *res, char out[DEVICE_MAX]) {
    char token[TOKEN_MAX];
    token_random(token);
    device_name(token, strlen(token), out);
    set_cookie(req, res, device_cookie, token, DEVICE_SECONDS);
}

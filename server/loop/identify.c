// See identify.h.
#include "server/loop/identify.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "server/accounts/session.h"
#include "server/http/access.h"
#include "server/http/cookies.h"

static const char *bearer_token(const Request *req) {
    const char *header = request_header(req, "Authorization");
    return header && !strncasecmp(header, "Bearer ", 7) ? header + 7 : NULL;
}

static bool by_user_token(RequestData *data, const char *token) {
    return user_token_viewer(data->req.turn, token, &data->req.viewer);
}

static bool by_worker_token(RequestData *data, const char *token) {
    return worker_token_viewer(data->req.turn, token, &data->req.viewer, data->owner);
}

bool viewer_identify(RequestData *data, Error *err) {
    const char *token = bearer_token(&data->req);
    if (!token) {
        size_t size;
        const char *secret = session_cookie(data, &size);
        if (secret)
            session_viewer(data->req.turn, secret, size, &data->req.viewer);
        return true;
    }
    bool worker_first = access_is_worker(data->route->access);
    if (worker_first ? by_worker_token(data, token) || by_user_token(data, token)
                     : by_user_token(data, token) || by_worker_token(data, token))
        return true;
    return error_set(err, 401, "bad_token", "the token is unknown or was revoked");
}

static bool viewer_equals(const Viewer *a, const Viewer *b) {
    return a->user_id == b->user_id && a->worker_id == b->worker_id && a->admin == b->admin &&
           a->by_cookie == b->by_cookie && !strcmp(a->scope, b->scope) &&
           !strcmp(a->session_hash, b->session_hash);
}

// If the session of a visitor has ended, calls that are open to all are still allowed, for example
// logging out twice.
bool viewer_again(RequestData *data, Error *err) {
    Turn *turn = data->req.turn;
    Viewer was = data->req.viewer, *is = &data->req.viewer;
    int noted = turn->token_count; // it was noted when the headers arrived
    *is = (Viewer){0};
    bool known = viewer_identify(data, err) && access_check(is, data->route->access, err);
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
    return !origin || same_host(req, origin); // not a browser, so there is no session to misuse
}

static bool needs_token(const Request *req) {
    static const char *const open[] = {"/login", "/signup", "/api/v1/login", "/api/v1/users"};
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        if (!strcmp(req->path, open[i]))
            return false;
    return req->viewer.by_cookie;
}

// Compares in constant time, because these are secrets.
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

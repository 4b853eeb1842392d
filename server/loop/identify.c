// See identify.h.
#include "server/loop/identify.h"

#include <microhttpd.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "server/accounts/session.h"
#include "server/common/log.h"
#include "server/http/access.h"
#include "server/http/cookies.h"
#include "server/loop/reached.h"

// ---- the client's address -----------------------------------------------------------------------

// All lines of `name` as one list, in order of arrival: a proxy may add its own line below those of
// the client.
static void join_lines(const Params *headers, const char *name, Str *out) {
    str_init(out, CONNECTION_MEMORY);
    for (size_t i = 0; i < headers->count; i++) {
        if (strcasecmp(headers->items[i].name, name) != 0)
            continue;
        str_puts(out, out->size ? ", " : "");
        str_puts(out, headers->items[i].value);
    }
}

// The nearest proxy wrote the last word of the list.
static bool is_https(const char *schemes) {
    const char *comma = strrchr(schemes, ',');
    const char *last = comma ? comma + 1 : schemes;
    last += strspn(last, " \t");
    return !strncmp(last, "https", 5) && !last[5 + strspn(last + 5, " \t")];
}

bool client_identify(Loop *loop, RequestData *data, Error *err) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(data->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    Str forwarded scope(str_release), schemes scope(str_release);
    char peer[ADDRESS_MAX] = "unknown";
    if (info && info->client_addr)
        address_of_peer(info->client_addr, peer);
    join_lines(&data->headers, "X-Forwarded-For", &forwarded);
    join_lines(&data->headers, "X-Forwarded-Proto", &schemes);
    address_of_client(&loop->config.trusted, peer, forwarded.data, data->address);
    bool trusted = trusted_has(&loop->config.trusted, peer);
    if (forwarded.size && !trusted && !atomic_exchange(&loop->site->undeclared_proxy, true))
        log_warn(
            "%s sends X-Forwarded-For and is not a trusted proxy; if it is your proxy, start the "
            "server with --trusted-proxy %s, or all its clients share the limits of one "
            "address (this is logged once)",
            peer, peer);
    data->https = trusted && is_https(schemes.data);
    data->req.address = data->address;
    return reached_note(loop, data, peer, err);
}

// ---- the viewer ---------------------------------------------------------------------------------

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

static bool from_our_page(const Request *req) {
    const char *site = request_header(req, "Sec-Fetch-Site");
    const char *origin = request_header(req, "Origin");
    if (site)
        return !strcmp(site, "same-origin") || !strcmp(site, "none");
    if (!origin)
        return true; // not a browser, so there is no session to misuse
    const char *host = request_header(req, "Host"), *at = strstr(origin, "://");
    return host && at && !strcasecmp(at + 3, host);
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

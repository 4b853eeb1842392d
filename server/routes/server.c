// The routes of the server itself: version and limits, health, metrics, the event stream, and the
// static files of the pages.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/accounts/machine.h"
#include "server/common/file.h"
#include "server/common/hash.h"
#include "server/db/settings.h"
#include "server/ledger/ledger.h"
#include "server/pages/page.h"
#include "server/routes/routes.h"
#include "server/submit/net_upload.h"
#include "sql/core.h"

enum { STATIC_MAX = 8 << 20 };

static bool server_about(Request *req, Response *res, Error *err) {
    (void)err;
    char *signup scope(free_ptr) = setting_text(req->turn->db, SETTING_SIGNUP);
    response_json(res, 200,
                  json_pack("{s:s,s:s,s:[i],s:f,s:s,s:{s:i,s:i,s:i,s:i}}", "name", "patchmate",
                            "version", "1.0", "protocols", 1, "time", req->turn->now, "signup",
                            signup, "limits", "games_bytes", (int)GAMES_MAX, "log_bytes",
                            FAILURE_LOG_MAX, "net_bytes", NET_BYTES_MAX, "wait_s",
                            CLAIM_WAIT_MAX_S));
    return true;
}

// Runs in the turn. So a 200 means that the loop runs and that the database answers.
static bool server_health(Request *req, Response *res, Error *err) {
    DocContext ctx = page_context(req);
    json_t *document = doc_health(&ctx, atomic_load(&req->site->undeclared_proxy), err);
    if (document)
        response_json(res, 200, document);
    return document != NULL;
}

// ---- figures ------------------------------------------------------------------------------------

static void metric(Str *out, const char *type, const char *name, const char *help, double value) {
    str_printf(out, "# HELP patchmate_%s %s\n# TYPE patchmate_%s %s\npatchmate_%s %.17g\n", name,
               help, name, type, name, value);
}

static void add_loop_figures(const Site *site, Str *out) {
    LoopFigures f = {0};
    site->figures(site->loop, &f);
    metric(out, "counter", "requests_total", "Requests that arrived as a whole",
           (double)f.requests);
    metric(out, "counter", "turns_total", "Turns of the loop", (double)f.turns);
    metric(out, "counter", "commits_total", "Turns committed", (double)f.commits);
    metric(out, "counter", "commit_failures_total", "Turns undone", (double)f.commit_failures);
    metric(out, "counter", "commit_seconds_total", "Spent in COMMIT", f.commit_seconds);
    metric(out, "counter", "apply_seconds_total", "Spent in handlers of the turn", f.apply_seconds);
    metric(out, "counter", "received_bytes_total", "Bodies received", (double)f.bytes_in);
    metric(out, "gauge", "waiting_claims", "Workers that wait for a task",
           (double)f.waiting_claims);
    metric(out, "gauge", "reader_queue", "Requests that wait for a reader thread",
           (double)f.readers_queued);
    metric(out, "gauge", "body_bytes", "Bodies and large replies in memory, without large uploads",
           (double)f.body_bytes);
    metric(out, "gauge", "streams", "Event streams", (double)f.streams);
    metric(out, "gauge", "downloads", "Downloads of games that are under way", (double)f.downloads);
    metric(out, "gauge", "connections", "Open connections", (double)f.connections);
    metric(out, "gauge", "uptime_seconds", "Since the server started", f.uptime_seconds);
    str_puts(out, "# HELP patchmate_replies_total Replies by first digit of the status\n"
                  "# TYPE patchmate_replies_total counter\n");
    for (int i = 1; i < 6; i++)
        str_printf(out, "patchmate_replies_total{class=\"%dxx\"} %lu\n", i, f.replies[i]);
}

static bool server_metrics(Request *req, Response *res, Error *err) {
    (void)err;
    response_text(res, 200, "text/plain; version=0.0.4; charset=utf-8", "");
    add_loop_figures(req->site, &res->body);
    json_auto_t *row = sql_core_metrics(req->turn->db, .now = req->turn->now, .online_s = ONLINE_S);
    const char *name;
    json_t *value;
    json_object_foreach (row, name, value)
        metric(&res->body, "gauge", name, "Counted in the database", json_number_value(value));
    return true;
}

static bool server_stream(Request *req, Response *res, Error *err) {
    (void)req, (void)err;
    res->stream = true;
    return true;
}

// ---- static files -------------------------------------------------------------------------------

static const char *type_of(const char *path) {
    static const char *const types[][2] = {{".css", "text/css; charset=utf-8"},
                                           {".js", "text/javascript; charset=utf-8"},
                                           {".svg", "image/svg+xml"},
                                           {".png", "image/png"},
                                           {".ico", "image/x-icon"},
                                           {".webmanifest", "application/manifest+json"},
                                           {".txt", "text/plain; charset=utf-8"}};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof types / sizeof *types; i++)
        if (!strcmp(dot, types[i][0]))
            return types[i][1];
    return "application/octet-stream";
}

// The name in a URL must not leave the folder web/static.
static bool is_plain_name(const char *name) {
    return *name != '/' && !strstr(name, "..") && !strstr(name, "//") &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./") ==
               strlen(name);
}

static bool server_static(Request *req, Response *res, Error *err) {
    const char *name = req->params[0];
    char *path scope(free_ptr) = xasprintf("%s/static/%s", req->site->web, name);
    char hash[SHA256_HEX_MAX];
    size_t size;
    char *text scope(free_ptr) =
        is_plain_name(name) ? file_read(path, STATIC_MAX, &size, err) : NULL;
    if (!text)
        return error_set(err, 404, "not_found", "there is no file %s", name);
    sha256_hex(text, size, hash);
    res->type = type_of(path);
    str_add(&res->body, text, size);
    response_header(res, "ETag", "\"%.16s\"", hash);
    response_header(res, "Cache-Control", "%s",
                    request_query(req, "v") ? "public, max-age=31536000, immutable"
                                            : "public, max-age=60");
    return true;
}

const Route routes_server[] = {
    {"GET", "/api/v1/server", ACCESS_ANYONE, 0, server_about, NULL},
    {"GET", "/api/v1/health", ACCESS_ANYONE, 0, NULL, server_health},
    {"GET", "/api/v1/stream", ACCESS_ANYONE, 0, NULL, server_stream},
    {"GET", "/metrics", ACCESS_ANYONE, 0, NULL, server_metrics},
    {"GET", "/static/{name...}", ACCESS_ANYONE, 0, server_static, NULL},
    {0},
};

// `git clone URL/git/ENGINE.git`: git's own http-backend answers. Only reading and only the smart
// protocol are supported. Changes are submitted as patches.
#include <stdlib.h>
#include <string.h>

#include "server/git/git_program.h"
#include "server/git/repo.h"
#include "server/http/handler.h"
#include "server/routes/routes.h"
#include "sql/git.h"

// A request names commits, 50 bytes each; a clone names one. A reply is held in memory until it is
// sent.
enum { REQUEST_MAX = 256 << 10, REPLY_MAX = 64 << 20 };
static const double TIMEOUT_S = 300;

static bool find_engine(Request *req, Error *err) {
    const char *name = req->params[0];
    return (repo_name_is_valid(name) && sql_engine_of_name(req->turn->db, 0, name)) ||
           error_set(err, 404, "no_such_engine", "there is no engine of this name");
}

// The lines before the empty line are headers. Only the status and the type are used.
static bool parse_reply(const Str *reply, Response *res, Error *err) {
    static const char *const types[] = {"application/x-git-upload-pack-advertisement",
                                        "application/x-git-upload-pack-result"};
    const char *p = reply->data, *end = reply->data + reply->size;
    res->type = "text/plain";
    while (p < end) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        if (!newline)
            break;
        size_t size = (size_t)(newline - p);
        size -= size && p[size - 1] == '\r';
        if (size == 0) {
            str_add(&res->body, newline + 1, (size_t)(end - newline - 1));
            return true;
        }
        if (size > 8 && memcmp(p, "Status: ", 8) == 0)
            res->status = (int)strtol(p + 8, NULL, 10);
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
            if (size == 14 + strlen(types[i]) && memcmp(p + 14, types[i], size - 14) == 0)
                res->type = types[i];
        p = newline + 1;
    }
    return error_set(err, 502, "git_failed", "the headers of git's answer have no end");
}

// Parts of git's messages about a broken request. Every other failure of git is the fault of this
// server or of its repository.
static const char *const refusals[] = {
    "protocol error",
    "hung up unexpectedly", // the request is cut short
    "not our ref",
    "expected SHA1",
    "expected flush",
    "unexpected line",
    "unexpected response end",
    "nvalid deepen",
    "nvalid shallow",
    "deepen-not",
    "no commits selected for shallow",
    "no command requested",
    "invalid command",
    "requested after already requesting",
    "unknown capability",
    "object format",
    "filtering capability",
};

static bool backend_failed(Error *err) {
    Error failure = *err;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (!strcmp(failure.code, "git_failed") && strstr(failure.message, refusals[i]))
            return error_set(err, 400, "bad_request", "the request is broken: %s", failure.message);
    return false;
}

static bool backend(Request *req, Response *res, const char *rest, const char *query, Error *err) {
    char *root scope(free_ptr) = xasprintf("%s/git", req->site->data);
    char *absolute scope(free_ptr) = realpath(root, NULL);
    char *project scope(free_ptr) = xasprintf("GIT_PROJECT_ROOT=%s", absolute ? absolute : root);
    char *path scope(free_ptr) = xasprintf("PATH_INFO=/%s.git/%s", req->params[0], rest);
    char *method scope(free_ptr) = xasprintf("REQUEST_METHOD=%s", req->body_size ? "POST" : "GET");
    char *queried scope(free_ptr) = xasprintf("QUERY_STRING=%s", query);
    char *length scope(free_ptr) = xasprintf("CONTENT_LENGTH=%zu", req->body_size);
    // The client chooses the version of the protocol. Other texts than git's own are not passed on.
    const char *wanted = request_header(req, "Git-Protocol");
    bool known = wanted && (strcmp(wanted, "version=2") == 0 || strcmp(wanted, "version=1") == 0);
    char *protocol scope(free_ptr) = xasprintf("GIT_PROTOCOL=%s", known ? wanted : "");
    const char *argv[] = {"git", "http-backend", NULL};
    const char *env[] = {project,
                         path,
                         method,
                         queried,
                         length,
                         protocol,
                         "GIT_HTTP_EXPORT_ALL=1",
                         "CONTENT_TYPE=application/x-git-upload-pack-request",
                         NULL};
    Str reply scope(str_release);
    str_init(&reply, REPLY_MAX);
    GitCall call = {argv, env, req->body, req->body_size, TIMEOUT_S};
    bool good = git_run(&call, &reply, err);
    if (reply.overflow)
        return error_set(
            err, 413, "too_large",
            "the reply is over %d MiB; clone with --depth 1, then fetch more with --deepen",
            REPLY_MAX >> 20);
    if (!good)
        return backend_failed(err);
    res->body.max = REPLY_MAX;
    response_header(res, "Cache-Control", "no-cache, max-age=0, must-revalidate");
    return parse_reply(&reply, res, err);
}

static bool refuse_push(Error *err) {
    return error_set(err, 403, "read_only",
                     "this repository is read-only; submit changes as a patch at /tests/new");
}

static bool refs(Request *req, Response *res, Error *err) {
    const char *service = request_query(req, "service");
    if (!find_engine(req, err))
        return false;
    if (service && strcmp(service, "git-receive-pack") == 0)
        return refuse_push(err);
    if (!service || strcmp(service, "git-upload-pack") != 0)
        return error_set(err, 403, "git_too_old",
                         "only git's smart protocol is supported; use git 1.6.6 or newer");
    return backend(req, res, "info/refs", "service=git-upload-pack", err);
}

static bool upload_pack(Request *req, Response *res, Error *err) {
    if (!find_engine(req, err))
        return false;
    if (!req->body_size)
        return error_set(err, 400, "bad_request", "the request has no body");
    return backend(req, res, "git-upload-pack", "", err);
}

static bool receive_pack(Request *req, Response *res, Error *err) {
    (void)req, (void)res;
    return refuse_push(err);
}

static bool anything_else(Request *req, Response *res, Error *err) {
    (void)res;
    return find_engine(req, err) &&
           error_set(
               err, 404, "not_found",
               "this address is for git only; run `git clone` with the part of it up to .git");
}

const Route routes_git[] = {
    {"GET", "/git/{engine}.git/info/refs", ACCESS_ANYONE, 0, refs, NULL},
    {"POST", "/git/{engine}.git/git-upload-pack", ACCESS_ANYONE, REQUEST_MAX, upload_pack, NULL},
    {"POST", "/git/{engine}.git/git-receive-pack", ACCESS_ANYONE, REQUEST_MAX, receive_pack, NULL},
    {"GET", "/git/{engine}.git/{rest...}", ACCESS_ANYONE, 0, anything_else, NULL},
    {0},
};

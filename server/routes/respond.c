// See respond.h.
#include "server/routes/respond.h"

#include <stdarg.h>
#include <stdio.h>

#include "server/ledger/disk_policy.h"

bool respond(Request *req, Response *res, int status, json_t *document, const char *url) {
    if (request_is_api(req)) {
        response_json(res, status, document);
        return true;
    }
    json_decref(document);
    response_redirect(res, url);
    return true;
}

bool respond_at(Request *req, Response *res, int status, json_t *document, const char *format,
                ...) {
    char url[64];
    va_list args;
    va_start(args, format);
    vsnprintf(url, sizeof url, format, args);
    va_end(args);
    if (request_is_api(req))
        json_object_set_new(document, "url", json_string(url));
    return respond(req, res, status, document, url);
}

bool respond_disk_check(Request *req, Response *res, Error *err) {
    if (disk_check(req->turn->db, req->site->data, err))
        return true;
    response_header(res, "Retry-After", "60");
    return false;
}

const char *next_path(const char *next, const char *fallback) {
    bool ours = next && next[0] == '/' && next[1] != '/' && next[1] != '\\';
    return ours ? next : fallback;
}

json_t *user_document(int64_t id, const char *name, bool admin) {
    return json_pack("{s:I,s:s,s:b}", "id", (json_int_t)id, "name", name, "admin", (int)admin);
}

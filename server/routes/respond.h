// Replies that handlers of several files share.
#pragma once

#include "server/http/handler.h"

// The reply to a change: a call of the API gets `document` (stolen), and a browser that sent a form
// is redirected to `url`. Always true, so that a handler can end with it.
bool respond(Request *req, Response *res, int status, json_t *document, const char *url);
// The same, and the document gets the URL as its member `url`.
bool respond_at(Request *req, Response *res, int status, json_t *document, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
// disk_check(). If it fails, the reply says when to try again.
bool respond_disk_check(Request *req, Response *res, Error *err);
// The path that a form leads to: `next` if it is a path of this server, otherwise `fallback`.
const char *next_path(const char *next, const char *fallback);
json_t *user_document(int64_t id, const char *name, bool admin);

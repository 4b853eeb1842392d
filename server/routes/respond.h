// What many handlers answer in the same way.
#pragma once

#include "server/http/handler.h"

// What a change answers: `document` (stolen) to a program, and a way on to `url` to a browser that
// sent a form. Always true, so that a handler can end with it.
bool respond(Request *req, Response *res, int status, json_t *document, const char *url);
// The same where the document has the url, too, as member `url`.
bool respond_at(Request *req, Response *res, int status, json_t *document, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
// disk_check, with the time after which to try again.
bool respond_disk_check(Request *req, Response *res, Error *err);

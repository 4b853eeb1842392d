// What the core falls back to where a module that stands above it is not linked.
#include "hooks.h"

#include <stdlib.h>

#define WEAK __attribute__((weak))

WEAK const Route routes_pages[] = {{0}};

WEAK bool page_load(App *app, Error *err) {
    (void)app, (void)err;
    return true;
}

WEAK void page_error(Request *req, Response *res, const Error *err) {
    (void)req;
    char *text scope(free_ptr) = xasprintf("%d %s\n", err->status, err->message);
    response_text(res, err->status, "text/plain; charset=utf-8", text);
}

WEAK bool page_form_error(Request *req, Response *res, const char *template, const Error *err) {
    (void)req, (void)res, (void)template, (void)err;
    return false;
}

WEAK void page_token_made(Request *req, Response *res, const json_t *token) {
    (void)req;
    char *text scope(free_ptr) =
        xasprintf("%s\n", json_string_value(json_object_get(token, "token")));
    response_text(res, 201, "text/plain; charset=utf-8", text);
}

// See response.h and handler.h.
#include "server/http/response.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void response_init(Response *res) {
    *res = (Response){.status = 200};
    str_init(&res->body, RESPONSE_MAX);
}

void response_release(Response *res) {
    str_release(&res->body);
    free(res->file);
}

void response_clear(Response *res) {
    str_clear(&res->body);
    free(res->file);
    res->file = NULL;
    res->type = NULL;
    res->status = 200;
    res->wait = WAIT_NONE;
    res->stream = false;
    res->more = NULL;
}

const char *response_value(const Response *res, const char *name) {
    for (int i = 0; i < res->header_count; i++)
        if (!strcmp(res->headers[i].name, name))
            return res->headers[i].value;
    return NULL;
}

static int add_to_body(const char *text, size_t size, void *res) {
    str_add(&((Response *)res)->body, text, size);
    return 0;
}

void response_json(Response *res, int status, json_t *document) {
    res->status = status;
    res->type = "application/json";
    str_clear(&res->body);
    json_dump_callback(document, add_to_body, res, JSON_COMPACT);
    json_decref(document);
}

void response_error(Response *res, const Error *err) {
    response_json(res, err->status,
                  json_pack("{s:{s:s,s:s,s:s}}", "error", "code", err->code, "message",
                            err->message, "field", err->field));
}

void response_text(Response *res, int status, const char *type, const char *text) {
    res->status = status;
    res->type = type;
    str_clear(&res->body);
    str_puts(&res->body, text);
}

void response_redirect(Response *res, const char *location) {
    response_text(res, 303, "text/plain; charset=utf-8", "");
    response_header(res, "Location", "%s", location);
}

// A value is one line. A control character in it is a mistake or an attack; the value is cut there.
void response_header(Response *res, const char *name, const char *format, ...) {
    assert(res->header_count < (int)(sizeof res->headers / sizeof *res->headers));
    int at = res->header_count++;
    va_list args;
    va_start(args, format);
    snprintf(res->headers[at].name, sizeof res->headers[at].name, "%s", name);
    vsnprintf(res->headers[at].value, sizeof res->headers[at].value, format, args);
    va_end(args);
    for (char *p = res->headers[at].value; *p; p++)
        if ((unsigned char)*p < ' ')
            *p = 0;
}

void response_file(Response *res, const char *type, const char *path) {
    res->type = type;
    free(res->file);
    res->file = xstrdup(path);
}

// request_json: reads the body as one JSON object with jansson's json_unpack. Every member must be
// expected, and an error names the wrong member.
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "server/http/request.h"

enum { VALUES_MAX = 10000 };

// "{}," has three bytes, but the object in memory takes a hundred times as much. So the values are
// counted before the text is parsed.
static size_t values_of(const char *text, size_t size) {
    size_t count = 0;
    bool quoted = false;
    for (size_t i = 0; i < size; i++)
        if (quoted && text[i] == '\\')
            i++;
        else if (text[i] == '"')
            quoted = !quoted;
        else
            count += !quoted && (text[i] == ',' || text[i] == '{' || text[i] == '[');
    return count;
}

json_t *request_object(Request *req, Error *err) {
    json_error_t at;
    if (req->data->json)
        return req->data->json;
    if (values_of(req->body, req->body_size) > VALUES_MAX)
        return error_set(err, 400, "bad_json", "the body has over %d values", VALUES_MAX), NULL;
    json_auto_t *json = json_loadb(req->body, req->body_size, JSON_REJECT_DUPLICATES, &at);
    if (!json)
        return error_set(err, 400, "bad_json", "the body is not JSON: line %d, column %d: %s",
                         at.line, at.column, at.text),
               NULL;
    if (!json_is_object(json))
        return error_set(err, 422, "bad_request", "the body is not a JSON object"), NULL;
    return req->data->json = json_incref(json);
}

// The key before byte `position` of the format, where json_unpack stopped. Goes through the
// arguments like json_unpack: all are pointers, and a key is an `s` after '{' or after a whole
// value in an object.
static const char *key_at(const char *format, int position, va_list args) {
    char nesting[32] = "";
    int depth = 0;
    bool key_next = false;
    const char *key = "";
    for (int i = 0; i < position && depth < 30 && format[i]; i++) {
        char c = format[i];
        if (c == '{' || c == '[') {
            nesting[++depth] = c;
            key_next = c == '{';
        } else if (c == '}' || c == ']') {
            depth--;
            key_next = nesting[depth] == '{';
        } else if (c == 's' && key_next && nesting[depth] == '{') {
            key = va_arg(args, const char *);
            key_next = false;
        } else if (strchr("sibIfFoO%", c)) {
            (void)va_arg(args, void *);
            key_next = nesting[depth] == '{' && format[i + 1] != '%';
        } else if (c == 'n')
            key_next = nesting[depth] == '{';
    }
    return key;
}

// Reads the names of unknown and missing members from the messages of json_unpack: "1 object
// item(s) left unpacked: foo, bar" and "Object item not found: foo".
static bool name_from_text(const json_error_t *at, Error *err) {
    const char *colon = strstr(at->text, ": "); // the first: a name may have more, and end with one
    const char *name = colon ? colon + 2 : "";
    if (strstr(at->text, "left unpacked"))
        return error_field(err, 422, "bad_request", name, "%s is not a member of this request",
                           name),
               true;
    if (strstr(at->text, "not found"))
        return error_field(err, 422, "bad_request", name, "%s is missing", name), true;
    return false;
}

bool request_json(Request *req, Error *err, const char *format, ...) {
    if (!request_object(req, err))
        return false;
    json_error_t at;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int rc = json_vunpack_ex(req->data->json, &at, JSON_STRICT, format, args);
    if (rc < 0 && !name_from_text(&at, err)) {
        const char *key = key_at(format, at.position, again);
        error_field(err, 422, "bad_request", key, "%s: %s", key, at.text);
    }
    va_end(again);
    va_end(args);
    return rc == 0;
}

// Any bytes as a request: first line the URL, second "Header: value" of its encoding or type, the
// rest the body. Either everything is taken apart, or there is an error with a status and words.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/str.h"
#include "server/http/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const Route route = {"POST", "/", ACCESS_ANYONE, 4096, NULL, NULL};

// The next line of *text, cut off; NULL at the end.
static char *take_line(const char **text, size_t *size) {
    const char *end = memchr(*text, '\n', *size);
    if (!end)
        return NULL;
    char *line = xstrndup(*text, (size_t)(end - *text));
    *size -= (size_t)(end + 1 - *text);
    *text = end + 1;
    return line;
}

static bool take_apart(RequestData *request, Error *err) {
    const char *name, *mode;
    int count, flag;
    double x;
    json_t *list;
    return request_open_body(request, err) &&
           request_json(&request->req, err, "{s:s, s?i, s:{s:b, s?f}, s?o, s?[s]}", "name", &name,
                        "count", &count, "inner", "flag", &flag, "x", &x, "list", &list, "modes",
                        &mode);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data;
    char *target scope(free_ptr) = take_line(&text, &size);
    char *header scope(free_ptr) = target ? take_line(&text, &size) : NULL;
    if (!header)
        return 0;
    RequestData *request = request_new(NULL, target);
    Error err = {0};
    size_t name = strcspn(header, ":");
    const char *value = header[name] ? header + name + 1 + (header[name + 1] == ' ') : "";
    params_add(&request->headers, header, name, value, strlen(value));
    request->route = &route;
    str_release(&request->raw);
    str_init(&request->raw, route.max_body);
    str_add(&request->raw, text, size);
    request_set_cookies(request);
    if (request_set_target(request, &err) != (err.status == 0))
        abort();
    memset(&err, 0, sizeof err);
    if (take_apart(request, &err) != (err.status == 0) || (err.status && !err.message[0]))
        abort();
    request_free(request);
    return 0;
}

// multipart/form-data (RFC 7578): see form.h. The whole body is in memory; parts are copied out.
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "server/common/str.h"
#include "server/http/form.h"

typedef struct Slice {
    const char *at;
    size_t size;
} Slice;

static bool broken(Error *err, const char *what) {
    return error_set(err, 400, "bad_form", "multipart form: %s", what);
}

// The value of parameter `name` (`name="…"` or name=…) in the value of a header; false if absent.
// Browsers write a quote inside a name as %22, so a quote always ends the value.
static bool parameter(Slice header, const char *name, Slice *out) {
    size_t length = strlen(name);
    for (size_t i = 0; i + length + 1 < header.size; i++) {
        bool starts = i > 0 && strchr("; \t", header.at[i - 1]);
        if (!starts || strncasecmp(header.at + i, name, length) != 0 ||
            header.at[i + length] != '=')
            continue;
        const char *value = header.at + i + length + 1, *end = header.at + header.size;
        bool quoted = *value == '"';
        value += quoted;
        const char *stop = value;
        while (stop < end && (quoted ? *stop != '"' : !strchr("; \t", *stop)))
            stop++;
        *out = (Slice){value, (size_t)(stop - value)};
        return true;
    }
    return false;
}

// Splits `rest` at `mark`: *before is the part before it. False if there is no mark.
static bool cut(Slice *rest, const char *mark, size_t size, Slice *before) {
    const char *found = memmem(rest->at, rest->size, mark, size);
    if (!found)
        return false;
    *before = (Slice){rest->at, (size_t)(found - rest->at)};
    rest->size -= before->size + size;
    rest->at = found + size;
    return true;
}

static bool disposition(Slice headers, Slice *out) {
    static const char name[] = "content-disposition:";
    Slice line;
    while (headers.size) {
        if (!cut(&headers, "\r\n", 2, &line)) {
            line = headers;
            headers.size = 0;
        }
        if (line.size > sizeof name - 1 && !strncasecmp(line.at, name, sizeof name - 1)) {
            *out = line;
            return true;
        }
    }
    return false;
}

static bool add_part(Slice part, Params *out, Error *err) {
    Slice headers, line, name, file;
    if (!cut(&part, "\r\n\r\n", 4, &headers) || !disposition(headers, &line) ||
        !parameter(line, "name", &name))
        return broken(err, "a part has no name");
    if (!text_is_clean(name.at, name.size))
        return broken(err, "a name is not UTF-8");
    if (out->count + 2 > FORM_FIELDS_MAX)
        return broken(err, "too many fields");
    bool is_file = parameter(line, "filename", &file);
    if (!is_file && !text_is_clean(part.at, part.size))
        return error_set(err, 400, "bad_form", "multipart form: field %.*s is not UTF-8",
                         (int)(name.size < 64 ? name.size : 64), name.at);
    params_add(out, name.at, name.size, part.at, part.size);
    if (is_file && text_is_clean(file.at, file.size)) {
        char *label scope(free_ptr) = xasprintf("%.*s.filename", (int)name.size, name.at);
        params_add(out, label, strlen(label), file.at, file.size);
    }
    return true;
}

bool form_multipart(const char *text, size_t size, const char *type, Params *out, Error *err) {
    Slice boundary, part, rest = {text, size};
    if (!parameter((Slice){type, strlen(type)}, "boundary", &boundary) || !boundary.size ||
        boundary.size > 70)
        return broken(err, "no boundary in Content-Type");
    char *mark scope(free_ptr) = xasprintf("\r\n--%.*s", (int)boundary.size, boundary.at);
    size_t flag_size = strlen(mark);
    // The first boundary may be at the start of the body, without a line end before it.
    bool opens = size >= flag_size - 2 && !memcmp(text, mark + 2, flag_size - 2);
    if (!cut(&rest, mark + (opens ? 2 : 0), flag_size - (opens ? 2 : 0), &part))
        return broken(err, "the first boundary is missing");
    while (rest.size < 2 || memcmp(rest.at, "--", 2) != 0) {
        Slice padding;
        if (!cut(&rest, "\r\n", 2, &padding) || !cut(&rest, mark, flag_size, &part))
            return broken(err, "the last boundary is missing");
        if (!add_part(part, out, err))
            return false;
    }
    return true;
}

// See form.h.
#include "server/http/form.h"

#include <stdlib.h>
#include <string.h>

#include "server/common/str.h"
#include "server/common/utf8.h"

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool text_is_clean(const char *text, size_t size) {
    unsigned code;
    for (size_t at = 0, length; at < size; at += length)
        if (!(length = utf8_character(text + at, size - at, &code)) || !code)
            return false;
    return true;
}

// False if an escape is broken.
static bool unescape(const char *text, size_t size, bool form, char *to, size_t *out) {
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        if (c == '%') {
            int high = i + 2 < size ? hex_digit(text[i + 1]) : -1;
            int low = i + 2 < size ? hex_digit(text[i + 2]) : -1;
            if (high < 0 || low < 0)
                return false;
            c = (char)(high << 4 | low);
            i += 2;
        } else if (c == '+' && form)
            c = ' ';
        to[n++] = c;
    }
    to[n] = 0;
    *out = n;
    return true;
}

char *percent_decode(const char *text, size_t size, bool form, size_t *out) {
    char *decoded = xmalloc(size + 1);
    if (unescape(text, size, form, decoded, out) && text_is_clean(decoded, *out))
        return decoded;
    free(decoded);
    return NULL;
}

static bool add_field(const char *field, size_t size, Params *out, Error *err) {
    const char *equals = memchr(field, '=', size);
    size_t name_size = equals ? (size_t)(equals - field) : size, n = 0, v = 0;
    char *name scope(free_ptr) = percent_decode(field, name_size, true, &n);
    char *value scope(free_ptr) =
        equals ? percent_decode(equals + 1, size - name_size - 1, true, &v) : xstrdup("");
    if (!name || !value)
        return error_set(err, 400, "bad_form", "the form is not UTF-8 or has a broken %% escape");
    if (out->count >= FORM_FIELDS_MAX)
        return error_set(err, 400, "bad_form", "more than %d fields", FORM_FIELDS_MAX);
    params_add(out, name, n, value, v);
    return true;
}

bool form_urlencoded(const char *text, size_t size, Params *out, Error *err) {
    const char *end = text + size;
    while (text < end) {
        const char *stop = memchr(text, '&', (size_t)(end - text));
        if (!stop)
            stop = end;
        if (stop > text && !add_field(text, (size_t)(stop - text), out, err))
            return false;
        text = stop + 1;
    }
    return true;
}

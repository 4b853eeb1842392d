// See form.h.
#include "server/http/form.h"

#include <stdlib.h>
#include <string.h>

#include "server/common/str.h"

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// The length of the UTF-8 sequence at `p`, 0 when it is none: overlong forms, surrogates and what
// lies beyond U+10FFFF are refused.
static size_t utf8_length(const unsigned char *p, size_t left) {
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (*p < 0x80)
        return *p != 0;
    size_t length = *p >= 0xF0 ? 4 : *p >= 0xE0 ? 3 : 2;
    if (*p < 0xC2 || *p > 0xF4 || length > left)
        return 0;
    unsigned code = *p & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (p[i] & 0x3F);
    }
    bool good = code >= least[length] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
    return good ? length : 0;
}

bool text_is_clean(const char *text, size_t size) {
    const unsigned char *p = (const unsigned char *)text;
    for (size_t at = 0, length; at < size; at += length)
        if (!(length = utf8_length(p + at, size - at)))
            return false;
    return true;
}

// False when an escape is broken.
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

static bool add_field(const char *field, size_t size, Pairs *out, Error *err) {
    const char *equals = memchr(field, '=', size);
    size_t name_size = equals ? (size_t)(equals - field) : size, n = 0, v = 0;
    char *name scope(free_ptr) = percent_decode(field, name_size, true, &n);
    char *value scope(free_ptr) =
        equals ? percent_decode(equals + 1, size - name_size - 1, true, &v) : xstrdup("");
    if (!name || !value)
        return error_set(err, 400, "bad_form", "the form is not UTF-8 or has a broken %% escape");
    if (out->count >= FORM_FIELDS_MAX)
        return error_set(err, 400, "bad_form", "more than %d fields", FORM_FIELDS_MAX);
    pairs_add(out, name, n, value, v);
    return true;
}

bool form_urlencoded(const char *text, size_t size, Pairs *out, Error *err) {
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

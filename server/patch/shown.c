// See shown.h.
#include "server/patch/shown.h"

#include <stdio.h>
#include <string.h>

#include "server/common/str.h"
#include "server/common/utf8.h"
#include "server/common/visible.h"

static size_t escape(const char *bytes, size_t size, char out[VISIBLE_ESCAPE_MAX]) {
    unsigned code;
    size_t n = visible_escape(bytes, size, true, out);
    // Blanks other than the usual one are harmless in prose, but not in source code.
    if (!*out && *bytes != ' ' && utf8_character(bytes, size, &code) && visible_is_blank(code))
        snprintf(out, VISIBLE_ESCAPE_MAX, "\\u%04x", code);
    return n;
}

static void add_plain(json_t *parts, const char *bytes, size_t size) {
    if (size)
        json_array_append_new(parts, json_pack("{s:s%, s:n}", "text", bytes, size, "hex"));
}

static void add_escape(json_t *parts, const char *escaped, const char *bytes, size_t size) {
    char hex[2 * 4 + 1];
    for (size_t i = 0; i < size; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned char)bytes[i]);
    json_array_append_new(parts, json_pack("{s:s, s:s}", "text", escaped, "hex", hex));
}

ShownLine shown_line(const char *bytes, size_t size) {
    ShownLine line = {.is_long = size > SHOWN_LONG};
    json_t *parts = json_array();
    Str text scope(str_release);
    str_init(&text, size * VISIBLE_ESCAPE_MAX + 1);
    size_t plain = 0; // no escape is needed from here on
    for (size_t i = 0, n; i < size; i += n) {
        char escaped[VISIBLE_ESCAPE_MAX];
        n = escape(bytes + i, size - i, escaped);
        if (!*escaped) {
            str_add(&text, bytes + i, n);
            continue;
        }
        add_plain(parts, bytes + plain, i - plain);
        add_escape(parts, escaped, bytes + i, n);
        str_puts(&text, escaped);
        plain = i + n;
        line.hidden |= bytes[i] != '\r' || i + 1 < size;
    }
    if (plain)
        add_plain(parts, bytes + plain, size - plain);
    line.text = json_stringn(text.data, text.size);
    line.parts = json_array_size(parts) ? parts : json_null();
    if (!json_array_size(parts))
        json_decref(parts);
    return line;
}

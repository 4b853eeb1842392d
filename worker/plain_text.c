// See plain_text.h.
#include "plain_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../server/common/log.h"

// Length of the UTF-8 character that starts at `s`, 0 when it is none. Overlong forms, surrogates
// and what lies beyond U+10FFFF are none.
static size_t character(const unsigned char *s, size_t left) {
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    if (s[0] < 0x80)
        return 1;
    size_t n = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4 || n > left)
        return 0;
    uint32_t code = s[0] & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (s[i] & 0x3F);
    }
    bool fine = code >= least[n] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
    return fine ? n : 0;
}

// Length of a terminal's control sequence "ESC [ … letter" that starts here, 0 when there is none.
static size_t escape(const unsigned char *s, size_t left) {
    size_t i = 2;
    if (left < 2 || s[0] != 0x1B || s[1] != '[')
        return 0;
    while (i < left && s[i] >= 0x20 && s[i] <= 0x3F)
        i++;
    return i < left ? i + 1 : left;
}

static void add_plain(Str *out, const char *bytes, size_t size) {
    const unsigned char *s = (const unsigned char *)bytes;
    for (size_t i = 0, n; i < size; i += n) {
        if ((n = escape(s + i, size - i)))
            continue;
        if (!(n = character(s + i, size - i))) {
            str_putc(out, '?');
            n = 1;
        } else if (n > 1 || s[i] == '\n' || s[i] == '\t' || (s[i] >= 0x20 && s[i] != 0x7F)) {
            str_add(out, s + i, n);
        }
    }
}

// Where the last `max` bytes begin, from the start of a line where one is near.
static size_t tail_start(const Str *text, size_t max) {
    if (text->size <= max)
        return 0;
    size_t start = text->size - max;
    const char *newline = memchr(text->data + start, '\n', max / 2);
    if (newline)
        return (size_t)(newline + 1 - text->data);
    while (start < text->size && ((unsigned char)text->data[start] & 0xC0) == 0x80)
        start++;
    return start;
}

json_t *plain_tail(const char *bytes, size_t size, size_t max) {
    scope(str_release) Str text;
    str_init(&text, size + 1);
    add_plain(&text, bytes, size);
    size_t start = tail_start(&text, max);
    json_t *value = json_stringn(text.data + start, text.size - start);
    if (!value)
        fatal("out of memory");
    return value;
}

static bool holds(const char *line, size_t size, const char *word) {
    return memmem(line, size, word, strlen(word)) != NULL;
}

static bool is_error(const char *line, size_t size) {
    static const char *const words[] = {
        "error:",      "undefined reference to", "No rule to make target", "command not found",
        ": not found", "Permission denied"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (holds(line, size, words[i]))
            return true;
    return false;
}

char *first_error(const char *log, size_t log_size, char *out, size_t size) {
    *out = 0;
    for (size_t start = 0; start < log_size;) {
        const char *newline = memchr(log + start, '\n', log_size - start);
        size_t length = newline ? (size_t)(newline - log) - start : log_size - start;
        if (is_error(log + start, length)) {
            scope(str_release) Str line;
            str_init(&line, size - 1);
            add_plain(&line, log + start, length);
            memcpy(out, line.data, line.size + 1);
            return out;
        }
        start += length + 1;
    }
    return out;
}

// See plain_text.h.
#include "worker/build/plain_text.h"

#include <string.h>

#include "server/common/bytes_text.h"
#include "server/common/visible.h"

// Where the last `max` bytes begin, from the start of a line where one is near.
static size_t tail_start(const char *text, size_t size, size_t max) {
    if (size <= max)
        return 0;
    size_t start = size - max;
    const char *newline = memchr(text + start, '\n', max / 2);
    if (newline)
        return (size_t)(newline + 1 - text);
    while (start < size && ((unsigned char)text[start] & 0xC0) == 0x80)
        start++;
    return start;
}

json_t *plain_tail(const char *text, size_t size, size_t max) {
    size_t start = tail_start(text, size, max);
    json_t *value = memchr(text, 0, size) ? NULL : json_stringn(text + start, size - start);
    if (value)
        return value;
    Str bytes scope(str_release);
    str_init(&bytes, 4 * size);
    bytes_text_add(&bytes, text, size);
    start = tail_start(bytes.data, bytes.size, max);
    return json_stringn(bytes.data + start, bytes.size - start);
}

json_t *plain_line(const char *sentence, size_t max) {
    char *line scope(free_ptr) = xmalloc(max + 1);
    visible_copy(line, max + 1, sentence, strlen(sentence), false);
    return json_string(line);
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
            visible_copy(out, size, log + start, length, false);
            return out;
        }
        start += length + 1;
    }
    return out;
}

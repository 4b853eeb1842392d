// Splits a line into words. This file knows nothing of UCI.
#include "base/words.h"

#include <string.h>
#include <strings.h>

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

Word word_next(const char **cursor) {
    const char *at = *cursor;
    while (is_blank(*at))
        at++;
    Word word = {at, 0};
    while (*at && !is_blank(*at))
        at++;
    word.length = (size_t)(at - word.text);
    *cursor = at;
    return word;
}

bool word_is(Word word, const char *text) {
    return strlen(text) == word.length && strncasecmp(word.text, text, word.length) == 0;
}

bool word_to_int(Word word, int64_t least, int64_t most, int64_t *out) {
    size_t i = 0;
    bool negative = word.length > 0 && word.text[0] == '-';
    i += negative || (word.length > 0 && word.text[0] == '+');
    if (i == word.length || word.length - i > 18)
        return false;
    int64_t value = 0;
    for (; i < word.length; i++) {
        if (word.text[i] < '0' || word.text[i] > '9')
            return false;
        value = value * 10 + (word.text[i] - '0');
    }
    value = negative ? -value : value;
    if (value < least || value > most)
        return false;
    *out = value;
    return true;
}

bool word_copy(Word word, char *out, size_t size) {
    bool fits = word.length < size;
    size_t length = fits ? word.length : 0;
    memcpy(out, word.text, length);
    out[length] = '\0';
    return fits;
}

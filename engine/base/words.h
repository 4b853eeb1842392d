// Splits a line of input into words. Nothing is copied or changed, and every number that is read
// has bounds.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A stretch of the line; not NUL-terminated. An empty one stands for "no more".
typedef struct Word {
    const char *text;
    size_t length;
} Word;

// The next word; `*cursor` moves behind it.
Word word_next(const char **cursor);
bool word_is(Word word, const char *text); // letter by letter, case ignored
// A decimal number in [least, most]; false leaves `*out` alone.
bool word_to_int(Word word, int64_t least, int64_t most, int64_t *out);
// NUL-terminated copy; false (and "") when it does not fit.
bool word_copy(Word word, char *out, size_t size);

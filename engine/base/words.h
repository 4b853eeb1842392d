// Splits a line of input into words. Nothing is copied or changed, and every number that is read
// has bounds.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A part of the line, not NUL-terminated. An empty word means that there are no more.
typedef struct Word {
    const char *text;
    size_t length;
} Word;

// The next word; `*cursor` moves behind it.
Word word_next(const char **cursor);
bool word_is(Word word, const char *text); // compares whole words, ignoring case
// A decimal number in [least, most]; false leaves `*out` alone.
bool word_to_int(Word word, int64_t least, int64_t most, int64_t *out);
// Copies the word and a NUL; false, and an empty string, if it does not fit.
bool word_copy(Word word, char *out, size_t size);

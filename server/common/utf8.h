// UTF-8: one character at a time, and text of unknown bytes made valid.
#pragma once

#include <stddef.h>

// Length of the UTF-8 character that starts at `bytes`, 0 when there is none; its code point goes to
// `code`. Overlong forms, surrogates and code points over U+10FFFF are no characters. `size` is
// not 0.
size_t utf8_character(const char *bytes, size_t size, unsigned *code);
// A copy of `size` bytes in which each byte that is not UTF-8 becomes U+FFFD, and each control
// character except tab and newline becomes '?'.
char *utf8_clean(const char *bytes, size_t size);

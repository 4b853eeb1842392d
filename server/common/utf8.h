// UTF-8: reading one character, and turning arbitrary bytes into valid text.
#pragma once

#include <stddef.h>

// Length of the UTF-8 character that starts at `bytes`, 0 if there is none. Its code point goes to
// `code`. Overlong forms, surrogates and code points above U+10FFFF are not characters. `size` is
// not 0.
size_t utf8_character(const char *bytes, size_t size, unsigned *code);
// A copy of `size` bytes in which each byte that is not UTF-8 becomes U+FFFD, and each control
// character except tab and newline becomes '?'.
char *utf8_clean(const char *bytes, size_t size);

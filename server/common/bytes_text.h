// Output of untrusted programs as text that JSON and the database can hold, and from which every
// byte can be restored. UTF-8 stays as it is, control characters too. A byte that is part of no
// character, and NUL, which JSON's readers refuse, become the character U+10FF00 plus the byte; so
// do, byte by byte, the characters U+10FF00 to U+10FFFF themselves, which are private and unused.
//
// Before people see it, it goes through visible.h, which knows these characters.
#pragma once

#include "server/common/str.h"

enum { BYTES_TEXT_FIRST = 0x10FF00, BYTES_TEXT_LAST = 0x10FFFF };

void bytes_text_add(Str *out, const char *bytes, size_t size);

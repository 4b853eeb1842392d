// Output of untrusted programs as text that JSON and the database can hold, and from which every
// byte can be restored. UTF-8 stays as it is, control characters included. A byte that is not part
// of a UTF-8 character, and NUL, which readers of JSON refuse, become the character U+10FF00 plus
// the byte. Each byte of the characters U+10FF00 to U+10FFFF themselves is treated the same way;
// they are private and unused.
//
// Before people see such text, it goes through visible.h, which knows these characters.
#pragma once

#include "server/common/str.h"

enum { BYTES_TEXT_FIRST = 0x10FF00, BYTES_TEXT_LAST = 0x10FFFF };

void bytes_text_add(Str *out, const char *bytes, size_t size);

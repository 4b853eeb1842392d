// Text from outside that is stored and shown as one line: titles, names, reasons.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "server/common/error.h"

// False: 422 `bad_field` on `field`, with a sentence that names it and the character. The reasons:
// fewer than `low` or more than `high` bytes, blanks alone, or a character that visible.h would
// write as an escape (control characters, bytes that are not UTF-8, characters that change the
// direction of writing, are invisible or end a line). A zero-width joiner between two emoji is
// allowed.
bool one_line_check(const char *field, const char *text, size_t low, size_t high, Error *err);

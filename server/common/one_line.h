// Text from outside that is stored and shown as one line: titles, names, reasons.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "server/common/error.h"

// False: 422 `bad_field` on `field`, with a sentence that names it. The reasons: fewer than `low`
// or more than `high` bytes, text that is not UTF-8, a control character (C0, DEL, C1), a character
// that changes the direction of writing, or a character that ends a line.
bool one_line_check(const char *field, const char *text, size_t low, size_t high, Error *err);

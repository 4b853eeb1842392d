// A line of text from outside that is kept and shown: titles, names, reasons.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "server/common/error.h"

// 422 `bad_field` on `field`, with a sentence that names it: fewer than `low` or more than `high`
// bytes, no UTF-8, or a character that acts instead of being seen: a control character (C0, DEL,
// C1), one that turns the direction of writing, or one that ends a line.
bool one_line_check(const char *field, const char *text, size_t low, size_t high, Error *err);

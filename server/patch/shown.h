// One line of a diff as an approver sees it. Every byte of it is there: what would be invisible,
// act on the page or turn the direction of writing stands as an escape, beside its bytes.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { SHOWN_LONG = 500 }; // bytes from which on a line is marked as long

typedef struct ShownLine {
    json_t *text;  // with escapes; new
    json_t *parts; // null where the text is all; else [{"text", "hex"}], "hex" of an escape; new
    bool hidden;   // it has an escape besides the carriage return at its end
    bool is_long;
} ShownLine;

// `size` bytes without the newline.
ShownLine shown_line(const char *bytes, size_t size);

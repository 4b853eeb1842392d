// One line of a diff as an approver sees it. No byte is lost. A character that is invisible, acts
// on the page or changes the direction of writing is shown as an escape, together with its bytes.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { SHOWN_LONG = 500 }; // a line with this many bytes is marked as long

typedef struct ShownLine {
    json_t *text;  // with escapes; new
    json_t *parts; // null if `text` is all; else [{"text", "hex"}], "hex" of an escape; new
    bool hidden;   // it has an escape other than the carriage return at its end
    bool is_long;
} ShownLine;

// `size` bytes without the newline.
ShownLine shown_line(const char *bytes, size_t size);

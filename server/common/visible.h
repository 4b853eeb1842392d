// Bytes from outside as text that is safe to look at, in a terminal, a log or a page. Such bytes are
// stored as they came; where they are shown, every character that acts instead of being seen is written
// as an escape: "\x1b" for a control character (C0, DEL, C1) or a byte that is not UTF-8, "\u202e"
// and "\U000e0041" for characters that turn the direction of writing, are invisible or end lines.
// So no text can move a cursor, forge a line of a log, or read otherwise than it is.
//
// Backslashes are not doubled: text that is visible already stays as it is. The escapes are for people and cannot be
// undone; bytes_text.h can.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "server/common/str.h"

// `lines`: tab, newline and the carriage return before a newline stay what they are.

// One character at a time: the escape of that at `bytes`, "" when it is shown as it is. Returns how
// many bytes it is of; `size` is not 0.
enum { VISIBLE_ESCAPE_MAX = 12 };
size_t visible_escape(const char *bytes, size_t size, bool lines, char out[VISIBLE_ESCAPE_MAX]);

// Appends `size` bytes as visible text.
void visible_add(Str *out, const char *bytes, size_t size, bool lines);
// The same into `room` bytes with a NUL, as many whole characters as fit. Returns the length.
size_t visible_copy(char *out, size_t room, const char *bytes, size_t size, bool lines);

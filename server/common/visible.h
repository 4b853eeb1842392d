// Bytes from outside as text that is safe to show in a terminal, a log or a page. Such bytes are
// stored as they came. When they are shown, some characters are written as an escape: "\x1b" for a
// control character (C0, DEL, C1) or a byte that is not UTF-8, and "\u202e" or "\U000e0041" for a
// character that changes the direction of writing, is invisible or ends a line. So no text can move
// a cursor, look like a line of a log, or look different from what it is.
//
// A backslash is not doubled: text without such characters stays as it is. The escapes are for
// people and cannot be undone. The form of bytes_text.h can be undone.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "server/common/str.h"

// `lines` true: tab, newline, and the carriage return before a newline are not escaped.

// One character: the escape of the character at `bytes`, "" if it is shown as it is. Returns how
// many bytes the character has. `size` is not 0.
enum { VISIBLE_ESCAPE_MAX = 12 };
size_t visible_escape(const char *bytes, size_t size, bool lines, char out[VISIBLE_ESCAPE_MAX]);

// The character is shown and takes room, and only its neighbours make it seen: the space, and its
// kin in other widths.
bool visible_is_blank(unsigned code);

// Appends `size` bytes as visible text.
void visible_add(Str *out, const char *bytes, size_t size, bool lines);
// The same into `out` of `room` bytes, with a NUL: as many whole characters as fit. Returns the
// length.
size_t visible_copy(char *out, size_t room, const char *bytes, size_t size, bool lines);

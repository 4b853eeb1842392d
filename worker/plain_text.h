// What strangers' programs print, as text for people: UTF-8 without control characters, its last
// lines when it is long, and the line that says what went wrong.
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "../server/common/str.h"

// The last lines of `bytes` that fit into `max` bytes as plain text: bytes that are not UTF-8
// become
// '?', terminals' colours and control characters but tab and newline are left out. New.
json_t *plain_tail(const char *bytes, size_t size, size_t max);
// The first line that a compiler, linker or make calls an error, cut to `size` with its NUL; ""
// when there is none. Returns `out`.
char *first_error(const char *log, size_t log_size, char *out, size_t size);

// Makes the output of untrusted programs ready for the server: the end of a long output, and the
// line with the error.
#pragma once

#include <jansson.h>
#include <stddef.h>

// The last lines of `text` (as of bytes_text.h) that fit into `max` bytes, otherwise as they are.
// What is no such text becomes it. New.
json_t *plain_tail(const char *text, size_t size, size_t max);
// One sentence, visible (visible.h) and cut to `max` bytes. New.
json_t *plain_line(const char *sentence, size_t max);
// The first line of `log` that a compiler, linker or make calls an error, visible and cut to `size`
// with its NUL; "" when there is none. Returns `out`.
char *first_error(const char *log, size_t log_size, char *out, size_t size);

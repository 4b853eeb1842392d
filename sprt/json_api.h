// Answers one request of `sprt --json`. It belongs to the program `sprt`, not to the library.
#pragma once

#include <stddef.h>

enum { JSON_API_LINE_MAX = 64 * 1024 }; // bytes of a request, without its newline

// The answer to one request line, without a newline; {"error": …} for a bad one. New, for free().
char *json_api_answer(const char *line, size_t length);
// {"error": message}. New, for free().
char *json_api_error(const char *message);

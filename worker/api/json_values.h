// How many values a JSON text has, before it is parsed: a parser takes over a hundred bytes for a
// value, even one that takes three bytes of the text. So a limit on bytes alone is none on memory.
#pragma once

#include <stddef.h>

// At least the number of values that a parser can make of any part of the text from its beginning,
// whether or not the whole is JSON.
size_t json_values_most(const char *text, size_t size);

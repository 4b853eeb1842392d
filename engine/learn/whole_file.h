// Reads a file of moderate size at once.
#pragma once

#include <stddef.h>

#include "rules/error.h"

// Returns all bytes of a file in new memory, with a NUL after them. NULL, with a reason in `err`,
// if it cannot be read or has more than `size_max` bytes.
char *whole_file_read(const char *path, size_t size_max, size_t *size, Refusal *err)
    __attribute__((warn_unused_result));

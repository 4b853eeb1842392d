// Reads a file of moderate size at once.
#pragma once

#include <stddef.h>

#include "rules/error.h"

// All bytes of a file, new, with a NUL behind them; NULL: `err` says why, also when there are more
// than `size_max`.
char *whole_file_read(const char *path, size_t size_max, size_t *size, Refusal *err)
    __attribute__((warn_unused_result));

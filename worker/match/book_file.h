// A file as it is, or unpacked where gzip has packed it.
#pragma once

#include <stddef.h>

#include "server/common/error.h"

// NUL-terminated, new; NULL on error or when over `max` bytes, unpacked.
char *book_file_read(const char *path, size_t max, size_t *size, Error *err);
// The same from bytes in memory; takes `data` over, whatever happens.
char *book_file_unpack(char *data, size_t *size, size_t max, Error *err);

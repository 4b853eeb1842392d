// Reads a file, and unpacks it if it is compressed by gzip.
#pragma once

#include <stddef.h>

#include "server/common/error.h"

// NUL-terminated, new; NULL on error or when over `max` bytes, unpacked.
char *book_file_read(const char *path, size_t max, size_t *size, Error *err);
// The same for bytes in memory. It becomes the owner of `data`, also on error.
char *book_file_unpack(char *data, size_t *size, size_t max, Error *err);

// Unpacks a book that came compressed: by gzip, or as the only file of a zip.
#pragma once

#include <stddef.h>

#include "server/common/error.h"

// The text, NUL-terminated, new; a file that is not packed is copied. NULL: 422 `bad_book` if the
// file is damaged, cut, or a zip with another number of files than one; 413 `too_large` if the text
// has more than `max` bytes.
char *book_unpack(const char *bytes, size_t size, size_t max, size_t *text_size, Error *err);

// Files: whole reads with a limit, writes that are on disk when they return.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "server/common/error.h"

// The whole file, NUL-terminated, malloc'ed; NULL on error or when over `max` bytes.
char *file_read(const char *path, size_t max, size_t *size, Error *err);
// What is left of one open file to another. False: errno tells.
bool fd_copy(int from, int to);
// Writes to a temporary file beside `path`, fsyncs, renames, fsyncs the folder: after true the file
// has its new content even if the machine stops now; after false the old one is untouched.
bool file_write_durable(const char *path, const void *data, size_t size, Error *err);
// Removes what writers that were killed have left in `path` and below; those that live go on.
void folder_sweep(const char *path);
bool folder_sync(const char *path, Error *err);
// mkdir -p.
bool folder_make(const char *path, Error *err);
// rm -r, links not followed; a path that is not there is fine.
bool folder_remove(const char *path, Error *err);

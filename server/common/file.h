// Files: reading a whole file with a limit, and writes that are on disk when they return.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "server/common/error.h"

// The whole file, NUL-terminated, malloc'ed; NULL on error or if it has more than `max` bytes.
char *file_read(const char *path, size_t max, size_t *size, Error *err);
// Copies the rest of one open file to another. False: see errno.
bool fd_copy(int from, int to);
// Writes a temporary file beside `path`, fsyncs it, renames it and fsyncs the folder. After true,
// the file has its new content even if the machine stops now. After false, the old file is
// unchanged.
bool file_write_durable(const char *path, const void *data, size_t size, Error *err);
// The same, for a file that no other user may read.
bool file_write_secret(const char *path, const void *data, size_t size, Error *err);
// Removes the temporary files of writers that were killed, in `path` and below. Those of running
// writers stay.
void folder_sweep(const char *path);
bool folder_sync(const char *path, Error *err);
// mkdir -p.
bool folder_make(const char *path, Error *err);
// rm -r; does not follow links. If the path does not exist, that is fine.
bool folder_remove(const char *path, Error *err);

// Unpacks a snapshot (tar, as the server makes it). Its content is untrusted: only folders and
// regular files are made, only below the given folder, and within limits.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "server/common/error.h"

enum { UNPACK_FILES_MAX = 20000, UNPACK_BYTES_MAX = 512 << 20, UNPACK_PATH_MAX = 400 };

// `folder` must exist and be empty. False: the archive is broken, holds a link, a device, an
// absolute path or "..", or passes a limit; what came out until then stays for the caller to
// remove.
bool unpack_file(const char *tar, const char *folder, Error *err);
// A file below `folder`, no step of the way to it through a link: made new with the folders that it
// needs (EEXIST if something lies there), or opened for reading. Its descriptor; -1: errno
// tells.
int unpack_create(const char *folder, const char *path, mode_t mode);
int unpack_open(const char *folder, const char *path);
bool unpack_memory(const void *tar, size_t size, const char *folder, Error *err);

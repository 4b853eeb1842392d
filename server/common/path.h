// Names of files that come from outside: in patches, source trees and nets.
#pragma once

#include <stdbool.h>

#include "server/common/error.h"

enum { PATH_BYTES_MAX = 400 };

// Printable ASCII of 1 to PATH_BYTES_MAX bytes: a name that every volunteer's machine can store.
bool path_is_plain(const char *path);
// Whether the path is plain, relative, stays below the folder that it is relative to, and names
// none of git's own files. 422 `patch_path`, field "patch".
bool path_check(const char *path, Error *err);

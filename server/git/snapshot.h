// A source snapshot: the tree of a commit as an uncompressed tar that is the same bytes wherever
// and whenever it is made: files sorted by path, no times, no owners, mode 644 or 755, no entries
// for folders. Its SHA-256 is what workers ask for and cache by.
#pragma once

#include "server/common/str.h"
#include "server/git/draft.h"
#include "server/git/repo.h"

enum { SNAPSHOT_BYTES_MAX = 64 << 20, SNAPSHOT_FILES_MAX = 20000 };

// Appends the tar to `out`. 422 where the tree holds what a snapshot must not (symbolic links,
// submodules) or is too large.
bool snapshot_make(git_repository *repo, const char *commit, Str *out, Error *err);
// Makes it and stores it as a blob of `data`; in the draft, where there is one.
bool snapshot_store(git_repository *repo, const char *commit, const char *data, Draft *draft,
                    char sha[65], size_t *size, Error *err);

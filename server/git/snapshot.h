// A source snapshot: the tree of a commit as an uncompressed tar. The bytes are the same on every
// machine and at every time: files sorted by path, no times, no owners, mode 644 or 755, no entries
// for folders. Workers request and cache a snapshot by its SHA-256.
#pragma once

#include "server/common/str.h"
#include "server/git/draft.h"
#include "server/git/repo.h"

enum { SNAPSHOT_BYTES_MAX = 64 << 20, SNAPSHOT_FILES_MAX = 20000 };

// Appends the tar to `out`. 422 if the tree is too large or has entries that a snapshot must not
// have (symbolic links, submodules).
bool snapshot_make(git_repository *repo, const char *commit, Str *out, Error *err);
// Makes the tar and stores it as a blob of `data`, or in the draft if there is one.
bool snapshot_store(git_repository *repo, const char *commit, const char *data, Draft *draft,
                    char sha[65], size_t *size, Error *err);

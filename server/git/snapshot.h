// A source snapshot: the tree of a commit as an uncompressed tar. The bytes are the same on every
// machine and at every time: files sorted by path, no times, no owners, mode 644 or 755, no entries
// for folders. Workers request and cache a snapshot by its SHA-256. The database keeps only this
// SHA-256. The tar is a blob while workers may build it. Later it is made again from git.
#pragma once

#include "server/common/hash.h"
#include "server/common/str.h"
#include "server/git/repo.h"

enum {
    SNAPSHOT_BYTES_MAX = 64 << 20, // of the files
    SNAPSHOT_FILES_MAX = 20000,
    SNAPSHOT_TAR_MAX = 2 * SNAPSHOT_BYTES_MAX,
};

// Appends the tar to `out`. 422 if the tree is too large or has entries that a snapshot must not
// have (symbolic links, submodules).
bool snapshot_make(git_repository *repo, const char *commit, Str *out, Error *err);
// The SHA-256 of the tar, which is made and not kept. Fails as snapshot_make() does.
bool snapshot_hash(git_repository *repo, const char *commit, char sha[SHA256_HEX_MAX], Error *err);
// Makes a snapshot that was made before, and had the name `sha` then. 500 `snapshot_differs` if the
// bytes are not the same.
bool snapshot_again(git_repository *repo, const char *commit, const char *sha, Str *out,
                    Error *err);
// Makes the snapshot again and stores it as a blob of `data`, unless the blob exists. On a reader.
bool snapshot_store(git_repository *repo, const char *commit, const char *sha, const char *data,
                    Error *err);

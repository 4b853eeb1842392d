// All large data that never changes: snapshots, books, nets, games. A blob is a file named by the
// SHA-256 of its bytes, DATA/blobs/ab/SHA256. The table `blobs` lists the blobs that rows refer to.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/common/error.h"
#include "server/common/hash.h"
#include "server/db/db.h"

// Stores the bytes under their name and fills `sha`. After true they are on disk even if the
// machine stops now: the file is written beside its place, fsynced and renamed, and its folders are
// fsynced. Storing the same bytes again changes nothing. Several threads may call this at once.
bool blob_put(const char *data, const void *bytes, size_t size, char sha[SHA256_HEX_MAX],
              Error *err) __attribute__((warn_unused_result));

// Writes the blob's row unless it exists. Call this before a row refers to the blob. `kind` as in
// the schema.
bool blob_note(Db *db, const char *sha, size_t size, const char *kind, double now, Error *err);

// The path of a blob, whether the blob exists or not; malloc'ed. `sha` becomes part of a path, so
// it must be 64 lower-case hex digits: see sha256_is_hex().
char *blob_path(const char *data, const char *sha);

// The bytes, NUL-terminated, malloc'ed. NULL: 404 if there is no such blob, 413 if it has more than
// `max` bytes, 500 if the bytes do not match its name.
char *blob_get(const char *data, const char *sha, size_t max, size_t *size, Error *err);

// Removes a blob that was last stored before `than` (Unix seconds); *size is its number of bytes. A
// blob that was stored again since is young and stays, even if the same bytes were already there.
typedef enum { BLOB_GONE, BLOB_YOUNG, BLOB_REMOVED } BlobRemoval;
BlobRemoval blob_remove_older(const char *data, const char *sha, double than, int64_t *size);

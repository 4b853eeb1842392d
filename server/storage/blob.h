// Everything large and immutable: snapshots, books, nets, games. A blob is a file named by the
// SHA-256 of its bytes, DATA/blobs/ab/SHA256; the `blobs` table lists those that rows refer to.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/common/error.h"
#include "server/common/hash.h"
#include "server/db/db.h"

// Stores the bytes under their name and fills `sha`. After true they are on disk even if the
// machine stops now: the file is written beside its place, fsynced, renamed, its folders fsynced.
// Storing the same bytes again changes nothing. Callable from several threads at once.
bool blob_put(const char *data, const void *bytes, size_t size, char sha[SHA256_HEX_MAX],
              Error *err) __attribute__((warn_unused_result));

// Writes the blob's row unless it is there: something is about to refer to the blob. `kind` as in the schema.
bool blob_note(Db *db, const char *sha, size_t size, const char *kind, double now, Error *err);

// The path of a blob, there or not; malloc'ed. `sha` must be 64 lower-case hex digits, as
// sha256_is_hex() tells: it becomes part of a path.
char *blob_path(const char *data, const char *sha);

// The bytes, NUL-terminated, malloc'ed. NULL: 404 when there is no such blob, 413 when over `max`
// bytes, 500 when the file does not hold what its name says.
char *blob_get(const char *data, const char *sha, size_t max, size_t *size, Error *err);

// Removes a blob that was last stored before `than` (Unix seconds); *size: its bytes. One that was
// stored again since, even if its bytes were there already, is young and stays.
typedef enum { BLOB_GONE, BLOB_YOUNG, BLOB_REMOVED } BlobRemoval;
BlobRemoval blob_remove_older(const char *data, const char *sha, double than, int64_t *size);

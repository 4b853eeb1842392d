// A bundle: the evidence of one test as one file, for strangers. It is a tar (tar_file.h):
//
//     SHA256SUMS        of all other members, in their order, as `sha256sum -c` reads it
//     manifest.json     the test, its sides, machines, keys, owners, exclusions and events
//     batches.jsonl     a line for each batch, in the order in which they count
//     book              the openings, a line each
//     games/SHA256.jsonl.zst    the games of a batch as its machine sent them, in the same order
//
// Its reader reads a stranger's bytes: nothing is unpacked to disk, and all sizes are
// bounded.
#pragma once

#include <stdio.h>

#include "server/proof/evidence.h"

enum { BUNDLE_JSON_MAX = 256 << 20, BUNDLE_LINE_MAX = 64 << 10, BUNDLE_MEMBERS_MAX = 1 << 20 };

typedef struct BundleWritten {
    int64_t members, games, missing; // batches without their games
} BundleWritten;
// Writes to an open file. Games that are gone are left out: the manifest says when the disk's rule
// dropped them. False: the file cannot be written, or games that should be there are not.
bool bundle_write(const Evidence *evidence, const char *data, FILE *out, BundleWritten *written,
                  Error *err);

// Reads a bundle in memory, which stays borrowed, and checks every byte of it against SHA256SUMS.
// False: `err` names the member and says what to do. Release it either way.
typedef struct Bundle Bundle;
bool bundle_read(const char *bytes, size_t size, Evidence *out, Bundle **bundle, Error *err);
int64_t bundle_members(const Bundle *bundle);
void bundle_free(Bundle **bundle); // for scope()

// All that a verdict rests on, of one test: its conditions, sides, machines with their keys, and
// exclusions (`manifest`), its batches in order, their games, and its book of openings. It comes
// from an installation (this header) or from a bundle (bundle.h), and is checked alike
// (evidence_check.h).
#pragma once

#include <jansson.h>

#include "server/common/str.h"
#include "server/db/db.h"

typedef struct Evidence Evidence;
struct Evidence {
    json_t *manifest, *batches; // an object, and a list of objects
    const char *book;           // its text
    size_t book_size;
    // Appends the games of a batch, unpacked. False: they are not there, or cannot be read.
    bool (*games)(const Evidence *evidence, const char *sha256, Str *text, Error *err);
    const void *source; // for `games`
    char *owned;        // freed with it; NULL: nothing
};
void evidence_release(Evidence *evidence);

// The form of the manifest and its batches. Other forms are refused.
#define EVIDENCE_FORMAT "patchmate bundle 1"

// Of a test of the installation in the folder `data`, which stays borrowed. False: 404
// `no_such_test`, or the database or the book cannot be read. Release it either way.
bool evidence_collect(Db *reader, const char *data, int64_t test, double now, Evidence *out,
                      Error *err);

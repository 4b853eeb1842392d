// Nets as developers upload them: a file of at most 64 MiB, stored once as a blob by its hash, and
// a row of the engine's nets with its name, a note, who uploaded it and when. A net is never
// changed or removed.
#pragma once

#include <jansson.h>

#include "server/common/hash.h"
#include "server/submit/caller.h"
#include "sql/git.h"

enum {
    NET_BYTES_MAX = 64 << 20,
    NET_BODY_MAX = NET_BYTES_MAX + (1 << 20), // a form around it
    NET_NAME_MAX = 100,
    NET_NOTE_MAX = 1000,
    NET_DAY_MAX = 1 << 30, // bytes of one user within a day
};

// What arrived. All is borrowed; texts that are absent are "" or NULL.
typedef struct NetFile {
    const char *bytes; // NULL: no file
    size_t size;
    const char *name;      // as the uploader calls it
    const char *file_name; // of the uploader's file, which stands in for the name
    const char *note, *sha256;
} NetFile;

typedef struct NetUpload {
    char sha[SHA256_HEX_MAX]; // "": none
    size_t size;
    char name[NET_NAME_MAX + 1], note[NET_NOTE_MAX + 1];
} NetUpload;

// Checks the file. `wanted` ("": any) and the file's own `sha256` must be its hash. On a reader
// thread. 413, 422 `missing_field`, `bad_field`, `wrong_net`, 429 `too_many_nets`.
bool net_upload_check(const Caller *caller, const NetFile *file, const char *wanted, NetUpload *out,
                      Error *err);
// The same, and stores it as a blob, to which no row refers yet.
bool net_upload_prepare(const Caller *caller, const NetFile *file, const char *wanted,
                        NetUpload *out, Error *err);
// Writes the rows unless they are there; tells the log, and the pages of tests that waited for it.
// In the turn.
bool net_upload_store(const Caller *caller, const SqlEngineById *engine, const NetUpload *net,
                      bool *is_new, Error *err);
// The nets that builds of the test need and that were not uploaded: [{"sha256"}], new.
json_t *net_missing(Db *db, int64_t test);

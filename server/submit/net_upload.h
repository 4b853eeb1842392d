// Nets as developers upload them: a file of at most 64 MiB, stored once as a blob by its hash, and
// a row of the engine's nets with its name, a note, who and when. It is never changed or removed.
#pragma once

#include "server/git/net_use.h"
#include "server/http/handler.h"

enum {
    NET_BYTES_MAX = 64 << 20,
    NET_BODY_MAX = NET_BYTES_MAX + (1 << 20), // a form around it
    NET_NAME_MAX = 100,
    NET_NOTE_MAX = 1000,
    NET_DAY_MAX = 1 << 30, // bytes of one user within a day
};

typedef struct NetUpload {
    char sha[SHA256_HEX_MAX]; // "": nothing came
    size_t size;
    char name[NET_NAME_MAX + 1], note[NET_NOTE_MAX + 1];
} NetUpload;

// The file of a form (field `net`, with `name`, `note` and `sha256`) or the body as it is (with the
// same in the query); where `wanted` or `sha256` says which net is meant, it must be that one. The
// blob is on disk afterwards, and nothing refers to it yet. On a reader thread.
// 413, 422 `missing_field`, `bad_field`, `wrong_net`, 429 `too_many_nets`.
bool net_upload_read(Request *req, const char *wanted, NetUpload *out, Error *err);
// Writes the rows unless they are there; tells the log and those who look at tests that waited for
// it. In the turn.
bool net_upload_store(Request *req, const json_t *engine, const NetUpload *net, bool *is_new,
                      Error *err);

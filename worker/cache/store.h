// The folder that holds all a worker keeps: blobs and builds shared by the workers of a machine,
// and one numbered folder for each of them with its identity, unsent results and work in progress.
//
//   ROOT/blobs/SHA256          downloaded, verified
//   ROOT/builds/KEY/           one built engine: `engine`, `build.json`
//   ROOT/N/lock                held by the running worker N
//   ROOT/N/mark                what its sandboxes carry (os/guard.h)
//   ROOT/N/group               the control group in which they are (os/own_group.h)
//   ROOT/N/servers/URL/        identity.json, spool/
//   ROOT/N/work/               emptied at each start
#pragma once

#include <jansson.h>

#include "server/common/error.h"

typedef struct Store {
    char *root;               // absolute
    char *instance;           // ROOT/N
    int number;               // N, from 1
    int lock;                 // descriptor
    struct StoreHolds *holds; // what the task that runs uses
} Store;

// Takes the first number that no running worker holds.
bool store_open(Store *store, const char *root, Error *err);
void store_close(Store *store);

// Marks a blob or build as used now and, until store_let_go, as in use, so that no worker of this
// cache removes it (trim.h). False: it is not there. Only from the thread that works on tasks.
bool store_hold(const Store *store, const char *path);
void store_let_go(const Store *store);

// Removes a folder of strangers' files, however they set its rights.
bool store_clear(const char *path, Error *err);

// New paths.
char *store_blob(const Store *store, const char *sha256);
char *store_build(const Store *store, const char *key);
char *store_work(const Store *store, const char *name);
// SHA-256 names of the blobs that are here, at most `max`.
json_t *store_blobs(const Store *store, int max);

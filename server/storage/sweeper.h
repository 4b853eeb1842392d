// The thread that deletes unneeded blobs: bodies of requests that were refused after the
// body was written, games of tests that were dropped (ledger/disk_policy.h), and snapshots that no
// worker builds (git/snapshot.h). It sweeps at the start of the server, every ten minutes, and on
// request. It only reads the database. It does not delete a blob younger than an hour, because the
// request that stored it may not be committed yet.
#pragma once

#include "server/common/error.h"

typedef struct Sweeper Sweeper;

Sweeper *sweeper_start(const char *data, Error *err);
void sweeper_wake(Sweeper *sweeper); // asks for a sweep now
// True if a requested sweep is not finished, or if it left dropped games for later because they are
// young. Then the free space on the disk does not show yet how much was dropped.
bool sweeper_is_behind(Sweeper *sweeper);
void sweeper_stop(Sweeper *sweeper); // also frees; NULL is fine

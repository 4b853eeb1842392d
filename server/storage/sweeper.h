// The thread that removes blobs which nothing names any more: bodies whose request was refused
// after they were written, and dropped games of tests (ledger/disk_policy.h). It looks when the
// server starts, every ten minutes, and when it is asked to. It only reads the database. A blob
// younger than an hour is left alone: the request that stored it may not have come to its COMMIT.
#pragma once

#include "server/common/error.h"

typedef struct Sweeper Sweeper;

Sweeper *sweeper_start(const char *data, Error *err);
void sweeper_wake(Sweeper *sweeper); // there is something to remove
// Whether it has not done what it was asked, or has left games of dropped tests for later because they are young: then
// the free space on the disk does not say yet how much was dropped.
bool sweeper_is_behind(Sweeper *sweeper);
void sweeper_stop(Sweeper *sweeper); // and free; NULL is fine

// Sets the references of every repository to what the database says.
#pragma once

#include <git2.h>

#include "server/common/error.h"
#include "server/db/db.h"

// Runs at start, and after a turn that failed. Every engine's branch is set to engines.baseline.
// Every test whose patch was not dropped has its reference, and no other test has one. A test whose
// commit is not in the repository (as in a backup that was made while it was dropped) is logged.
bool repo_reconcile(const char *data, Db *db, Error *err);

// Removes references of tests from an engine's repository; returns how many. While the server runs,
// a reference may belong to a test that is not committed yet.
typedef enum {
    REFS_DROPPED, // of tests whose patch was dropped
    REFS_NOT_KEPT // these, and those that belong to no test
} RefsToRemove;
int refs_remove(git_repository *repo, Db *db, int64_t engine, RefsToRemove which);

// Sets the references of every repository to what the database says.
#pragma once

#include "server/common/error.h"
#include "server/db/db.h"

// Runs at start, and after a turn that failed. Every engine's branch is set to engines.baseline,
// and every test has its reference. References of tests that were never stored are removed.
bool repo_reconcile(const char *data, Db *db, Error *err);

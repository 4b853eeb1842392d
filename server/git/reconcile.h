// Brings the references of every repository in line with the database.
#pragma once

#include "server/common/error.h"
#include "server/db/db.h"

// At start, and after a turn that failed: every engine's branch follows engines.baseline, which is the truth, and
// every test has its reference. References of tests that were never stored are removed.
bool repo_reconcile(const char *data, Db *db, Error *err);

// The change of an accepted test on a baseline that has moved on since: a merge of three trees. The
// functions take the test's row of SQL_TEST_FOR_CHANGE. For readers.
#pragma once

#include <git2.h>
#include <jansson.h>

#include "server/common/error.h"
#include "server/db/db.h"
#include "sql/tests.h"

// Whether a merge cannot move the branch to the tested commit.
bool reapply_is_needed(git_repository *repo, const SqlTestForChange *test);
// Whether the change fits the baseline. 409 `merge_conflict` with the file and
// the test that changed it, or `merged`: the
// baseline holds it already. Writes nothing to disk: from now on `repo` keeps new objects in
// memory.
bool reapply_fits(Db *db, git_repository *repo, const SqlTestForChange *test, Error *err);
// The same, and writes the tree: to disk, unless reapply_in_memory() was called before.
bool reapply_in_memory(git_repository *repo, Error *err);
bool reapply_tree(Db *db, git_repository *repo, const SqlTestForChange *test, git_oid *out,
                  Error *err);

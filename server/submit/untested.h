// Whether an accepted change may be merged onto a baseline that has moved since, although this
// combination was never tested: what git says of it. The policy of the engine sets how many commits
// may lie between (policy.h). A change that touches no file that they touched is taken to be worth
// what its test said.
#pragma once

#include <git2.h>
#include <jansson.h>
#include <stdbool.h>

#include "server/db/db.h"
#include "sql/tests.h"

// The commits of the branch since the base of the test, oldest first: [{"commit", "subject",
// "test"}], `test` null if no test made it. NULL: the base is not in the branch's history, or more
// than `most` commits lie between. For readers. New.
json_t *untested_since(Db *db, git_repository *repo, const SqlTestForChange *test, int most);

// True if the change touches no file that a commit since its base touched, and no more than `most`
// commits lie between. Else `why` says in a sentence what stands against it, and names the test
// that changed the file. For readers.
enum { UNTESTED_WHY_MAX = 400 };
bool untested_fits(Db *db, git_repository *repo, const SqlTestForChange *test, int most,
                   char why[UNTESTED_WHY_MAX]);

// The merged test whose change of `path` lies between the base of the test and the baseline, the
// latest one; 0: none.
int64_t untested_toucher(Db *db, git_repository *repo, const SqlTestForChange *test,
                         const char *path);

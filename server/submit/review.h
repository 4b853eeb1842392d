// What an approver can see of a test. An approval covers only that.
#pragma once

#include <git2.h>
#include <jansson.h>

#include "server/common/error.h"
#include "sql/tests.h"

// Whether the diff of the test (its row of SQL_TEST_FOR_CHANGE) can be shown as a whole: 409
// `diff_too_long`. Unless `unseen_too`, whether it also shows the bytes of every file: 409
// `files_unseen`, with the first that it only names. For readers.
bool review_covers(git_repository *repo, const SqlTestForChange *test, bool unseen_too, Error *err);

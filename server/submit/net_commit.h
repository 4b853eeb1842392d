// The commit that puts a net into the tree when its test is merged.
#pragma once

#include "server/git/commit_record.h"
#include "server/submit/caller.h"
#include "sql/tests.h"

// A merge puts no larger net into the repository.
enum { NET_MERGE_MAX = 2 << 20 };

// The size of the net that a merge of the test would put into the tree; 0: none. `test` as of
// SQL_TEST_FOR_CHANGE.
int64_t net_to_merge(Db *db, const SqlTestForChange *test);
// If the tested commit needs a net that is not in its tree: a commit on top of it that puts it
// there in place of its base's, so that every clone has it. Without one `out->info.sha` is "". Any
// thread.
bool net_commit_make(const Caller *caller, git_repository *repo, const SqlTestForChange *test,
                     CommitRecord *out, Error *err);

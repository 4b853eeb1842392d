// What a test stands on: its base is in the history of the baseline or was itself approved, and
// neither of its commits is built on one that was called harmful. Git is read on a reader thread;
// what may have changed since is asked of the database in the turn.
#pragma once

#include <git2.h>
#include <jansson.h>

#include "server/db/db.h"
#include "sql/git.h"
#include "sql/tests.h"

typedef struct Ground {
    bool in_baseline; // the base; once true it stays true
    int64_t harmful;  // how many commits of the engine were called harmful when git was read
} Ground;

// 409 `harmful_commit`, `base_not_approved`.
bool ground_of_base(Db *db, git_repository *repo, const SqlEngineById *engine, const char *base,
                    Ground *out, Error *err);
// Both commits of a test that exists, from its row.
bool ground_of_test(Db *db, git_repository *repo, const SqlTestForChange *row, Ground *out,
                    Error *err);
// In the turn. 409 `conflict` if a commit was called harmful since, `base_not_approved`.
bool ground_holds(Db *db, const Ground *ground, int64_t engine_id, const char *base, Error *err);

// That the new commit of a test (its row of SQL_TEST_FOR_CHANGE) is not in the history of the
// baseline. 409 `in_baseline`.
bool ground_outside_baseline(git_repository *repo, const SqlTestForChange *row, Error *err);

// Whether an approval stands. A maintainer approves the difference between what volunteers build and the baseline. So
// a base is in the baseline's history or was approved itself, and stays so while its test plays; and no later test
// contains a commit that was called harmful.
#pragma once

#include <git2.h>
#include <jansson.h>

#include "server/db/turn.h"

// Whether volunteers may build `sha` as a base: it is in the history of the engine's baseline
// (*in_baseline), or the approval of a test of that commit stands. 409 `base_not_approved`.
bool approval_base(Db *db, git_repository *repo, const json_t *engine, const char *sha,
                   bool *in_baseline, Error *err);
// The second half alone, which needs no repository: for bases outside the baseline's history.
bool approval_stands(Db *db, int64_t engine_id, const char *sha, Error *err);
// 409 `harmful_commit` where a commit that was called harmful is `sha` or an ancestor of it.
bool approval_unharmed(Db *db, git_repository *repo, int64_t engine_id, const char *sha,
                       Error *err);
// Pauses the tests that play on an approval that no longer stands. Apply.
bool approval_pause_others(Turn *turn, int64_t engine_id, Error *err);

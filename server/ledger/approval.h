// Whether an approval is still valid. A maintainer approves the difference between the code that
// volunteers build and the baseline. So a base must be in the baseline's history or approved
// itself, as long as its test plays. And no later test may contain a commit that was marked as
// harmful.
#pragma once

#include <git2.h>
#include <jansson.h>

#include "server/db/turn.h"
#include "sql/git.h"

// Whether volunteers may build `sha` as a base: it is in the history of the engine's baseline
// (*in_baseline), or the approval of a test of that commit is valid. 409 `base_not_approved`.
bool approval_base(Db *db, git_repository *repo, const SqlEngineById *engine, const char *sha,
                   bool *in_baseline, Error *err);
// Only the second condition, which needs no repository: for bases outside the baseline's history.
bool approval_stands(Db *db, int64_t engine_id, const char *sha, Error *err);
// 409 `harmful_commit` if `sha` or one of its ancestors was marked as harmful.
bool approval_unharmed(Db *db, git_repository *repo, int64_t engine_id, const char *sha,
                       Error *err);
// Pauses the tests whose base has lost its approval. Apply.
bool approval_pause_others(Turn *turn, int64_t engine_id, Error *err);

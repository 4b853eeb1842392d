// Moving the branch of an engine to a commit that merges a test.
#pragma once

#include <git2.h>

#include "server/submit/caller.h"

typedef struct BranchMove {
    int64_t engine, test;
    const char *branch, *old, *commit; // `old`: the baseline until now
} BranchMove;
// To a commit that is on disk, recorded and approved: the baseline, the test's row, the reference
// and the event. In the turn. 409 `conflict`: the baseline is not `old`.
bool branch_move(const Caller *caller, git_repository *repo, const BranchMove *move, Error *err);

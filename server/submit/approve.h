// Approving a test, so that volunteers may build it, and letting one go on. Each in two steps: git
// and the diff are read on a reader thread, and what the database says counts in the turn.
#pragma once

#include "server/submit/caller.h"
#include "server/submit/ground.h"

// `unseen_too`: the approver has looked at what the diff names and does not show. 409
// `diff_too_long`, `files_unseen`. Fills `ground` for the turn.
bool submit_approve_prepare(const Caller *caller, int64_t test, bool unseen_too, Ground *ground,
                            Error *err);
// `seen`: the hash of what was looked at, "" for the test as it is. 409 `changed` if it is
// another by now.
bool submit_approve(const Caller *caller, int64_t test, const Ground *ground, const char *seen,
                    Error *err);

bool submit_resume_prepare(const Caller *caller, int64_t test, Ground *ground, Error *err);
bool submit_resume(const Caller *caller, int64_t test, const Ground *ground, Error *err);

// A test whose verdict its batches no longer make goes on; `reason` is logged.
bool submit_reopen_prepare(const Caller *caller, int64_t test, Ground *ground, Error *err);
bool submit_reopen(const Caller *caller, int64_t test, const Ground *ground, const char *reason,
                   Error *err);

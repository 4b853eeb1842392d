// The two commits of a submission: the base as the fields name it, the new one as they name it or
// as the patch makes it.
#pragma once

#include "server/submit/caller.h"
#include "server/submit/submission.h"

// Fills base, new, their records and bench counts, what the patch is, and the title if there is
// none. What it makes is in the draft, if there is one, and nothing refers to it yet.
bool submit_make_commits(const Caller *caller, Submission *s, Error *err);
// Whether the bench counts that are declared may be those of the two commits. 422 `bad_bench`.
bool submit_check_benches(const Caller *caller, Submission *s, Error *err);
// The commit's record; without a snapshot if its row is there already, because then none need be
// made.
bool submit_prepare_record(const Caller *caller, const Submission *s, const char *sha,
                           CommitRecord *out, Error *err);

// The two commits of a submission: the base as the fields name it, the new one as they name it or
// as the patch makes it.
#pragma once

#include "server/submit/caller.h"
#include "server/submit/submission.h"

// A patch that arrived as a file, whose bytes are taken as they are, beside the field `patch`.
// bytes NULL: none.
typedef struct PatchBytes {
    const char *bytes;
    size_t size;
} PatchBytes;

// Fills base, new, their records and bench counts, what the patch is, and the title if there is
// none. What it makes
// is in the draft, if there is one, and nothing refers to it yet.
bool submit_make_commits(const Caller *caller, Submission *s, PatchBytes file, Error *err);
// The commit's record; without a snapshot if its row is there already, because then none need be
// made.
bool submit_prepare_record(const Caller *caller, const Submission *s, const char *sha,
                           CommitRecord *out, Error *err);

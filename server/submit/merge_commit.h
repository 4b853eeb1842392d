// The commits that merges write. Each has the tested commit's author and message; the bench count
// in the message is that of its own tree, or none.
#pragma once

#include "server/git/repo.h"
#include "server/submit/caller.h"

// A commit of `tree` on `parent`. `bench` 0: without a count. Any thread.
bool merge_commit_make(const Caller *caller, git_repository *repo, const char *tested,
                       const git_oid *tree, const char *parent, int64_t bench,
                       char sha[REPO_SHA_MAX], Error *err);
// The same with the tree of a commit.
bool merge_commit_again(const Caller *caller, git_repository *repo, const char *candidate,
                        const char *parent, int64_t bench, char sha[REPO_SHA_MAX], Error *err);

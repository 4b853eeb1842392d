// Undoing the latest merge of an engine: a commit on top of it with the tree of before. The branch
// only ever moves forward, so the merged commit stays in its history. The test counts as undone,
// and is not merged again: a new test of the change may be.
#pragma once

#include "server/git/commit_record.h"
#include "server/submit/caller.h"

// What was made for an undoing.
typedef struct MergeUndo {
    int64_t test;
    char merged[REPO_SHA_MAX]; // the baseline that it is made for
    CommitRecord record;       // of the new commit
} MergeUndo;

MergeUndo *submit_undo_prepare(const Caller *caller, int64_t test, Error *err); // on a reader
void undo_free(void *undo); // fits Request.state_free
bool submit_undo(const Caller *caller, const MergeUndo *undo, Error *err); // in the turn

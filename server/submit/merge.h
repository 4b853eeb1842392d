// Merging an accepted test. The branch only ever moves forward, and only to the very commit that
// was tested, or to one on top of it that adds the net that was built with it (net_commit.h). If
// the baseline has moved since, the patch is applied to the new baseline (a merge of three trees)
// and offered as a new test, because that combination was never tested. The new test keeps the
// approval if that still holds and the server's merge removes and adds the same lines in each file
// (same_lines.h).
#pragma once

#include "server/submit/caller.h"

typedef struct Merge Merge;

// On a reader thread; NULL on error. `turned_too`: the maintainer has read that the verdict was
// turned (verdict_mark.h), and merges it all the same; else 409 `verdict_turned`.
Merge *submit_merge_prepare(const Caller *caller, int64_t test, bool turned_too, Error *err);
void merge_free(void *merge); // fits Request.state_free
// In the turn. Fills *retest with the new test's id, 0 if the branch moved.
bool submit_merge(const Caller *caller, Merge *merge, int64_t *retest, Error *err);

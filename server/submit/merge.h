// Merging an accepted test.
//
// If the baseline is still the base of the test, the branch moves to the very commit that was
// tested, or to one on top of it that adds the net that was built with it (net_commit.h).
//
// If the baseline has moved since, the server applies the patch to it: a merge of three trees. This
// combination was never tested. It is merged without a new test if the policy of the engine allows
// it, the change touches no file that was changed since (untested.h), and its removed and added
// lines are, file by file, those that were approved (same_lines.h). Then a *trial* comes first: a
// short match of the merged tree against the baseline (trial.h), by which machines build it and
// establish its bench count. Trials take turns in a queue (merge_queue.h).
//
// Else the change is submitted again as a new test. It keeps its approval if that still holds and
// each line is the same.
#pragma once

#include "server/submit/caller.h"
#include "sql/tests.h"

typedef struct Merge Merge;

// What a merge came to. All 0: the branch has moved.
typedef struct MergeEnd {
    int64_t retest; // the new test
    int64_t trial;  // the test that tries the merged tree
    bool waits;     // for other merges
} MergeEnd;

// Of a row of the queue, or by a click.
typedef struct MergeAsk {
    int64_t test, row; // row 0: a click
    bool turned_too;   // the maintainer has read that the verdict was turned (verdict_mark.h), and
                       // merges it all the same; else 409 `verdict_turned`
} MergeAsk;

// On a reader thread; NULL on error.
Merge *submit_merge_prepare(const Caller *caller, MergeAsk ask, Error *err);
// 409 `queued`: the test is in the queue of merges.
bool merge_is_free(Db *db, int64_t test, Error *err);
void merge_free(void *merge); // fits Request.state_free
// The person whose approval of the test still holds: a maintainer who approved what it is now. 0:
// none.
int64_t merge_approver(Db *db, int64_t test);
// In the turn. 409 `conflict`: prepare it again.
bool submit_merge(const Caller *caller, Merge *merge, MergeEnd *end, Error *err);

// The trial of a merge: a short match of the merged tree against the baseline, at fixed nodes. Its
// machines build the tree, and establish its bench count as for any test (quorum.h); its games show
// that the program plays. Its score decides nothing: eight pairs say nothing of strength. It goes
// on until the count is established, because the machine of a second owner may still be busy.
#pragma once

#include "server/submit/caller.h"
#include "server/submit/submission.h"
#include "sql/merges.h"

enum { TRIAL_PAIRS = 8, TRIAL_BATCH = 2, TRIAL_PAIRS_MAX = 400 };
enum { TRIAL_NODES = 10000, TRIAL_PRIORITY = 1000 };

// Turns the fields of a submission, which are those of the tested one, into those of its trial.
bool trial_fields(Submission *submission, int64_t test, Error *err);
// Stores and approves it, in the name of who approved the test. In the turn. 0 on error.
int64_t trial_begin(const Caller *caller, Submission *submission, int64_t test, int64_t approver,
                    Error *err);
// Ends a trial that has played enough and whose tree has a count. In the turn.
bool trial_complete(Turn *turn, Error *err);
// What a trial that has ended means. In the turn: the branch moves, or false with the sentence for
// the maintainer and the author. 409 `conflict`: the baseline has moved, so try the merge again.
bool trial_end(const Caller *caller, const SqlMergeTrialsEnded *row, Error *err);

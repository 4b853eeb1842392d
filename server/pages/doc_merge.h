// Merges in documents: what a merge will do, what it lacks, how it stands in the queue.
#pragma once

#include "server/pages/doc.h"
#include "server/submit/caller.h"
#include "sql/tests.h"

// Adds to the action `merge` of a test: "forward", "trial", "note", "since", "missing".
void doc_add_merge(const Caller *caller, const SqlTestForChange *row, json_t *merge);
// The test's newest row in the queue: {"state", "trial", "text"}. Null: none. New.
json_t *doc_merging(const DocContext *ctx, int64_t test);
// Of an engine: {"policy", "queue", "untested"}. New.
json_t *doc_merges_of_engine(const DocContext *ctx, int64_t engine);

// Counts a test again from its first batch: after an exclusion, or because another version of its
// workload counted it.
#pragma once

#include "server/ledger/task.h"

// Writes the new results and the history. An existing verdict stays.
bool test_recount(Turn *turn, int64_t test, TestCount *count, Error *err);

// The decision that the counts of a test make, and its announcement.
#pragma once

#include "server/ledger/task.h"

// Ends the test of a task if its counts decide it or if its last unit was counted.
bool test_judge(Turn *turn, TaskRow *row, const TestCount *count, Error *err);
void publish_counts(Turn *turn, int64_t test, const TestCount *count);

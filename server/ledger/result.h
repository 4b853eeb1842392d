// The decision that the counts of a test make, and its announcement.
#pragma once

#include "server/ledger/task.h"

// Ends the test of a task if its counts decide it, if its last unit was counted, or if its book is
// spent (book_use.h). Not while a machine that was outvoted counts (outvoted.h).
bool test_judge(Turn *turn, TaskRow *row, const TestCount *count, Error *err);
// The same for an open test, by its stored counts.
bool test_judge_again(Turn *turn, int64_t test, Error *err);
void publish_counts(Turn *turn, int64_t test, const TestCount *count);

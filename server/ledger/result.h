// The decision that the counts of a test make, and its announcement.
#pragma once

#include "server/ledger/task.h"

// Ends the test if its counts decide it or if its last pair was counted.
bool test_judge(Turn *turn, TaskRow *row, Error *err);
void publish_counts(Turn *turn, const TaskRow *row);

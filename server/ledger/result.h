// What the counts of a test decide, and who is told of them.
#pragma once

#include "server/ledger/task.h"

// Ends the test where its counts decide it or the last pair is in.
bool test_judge(Turn *turn, TaskRow *row, Error *err);
void publish_counts(Turn *turn, const TaskRow *row);

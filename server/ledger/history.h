// How a test came to its numbers, for its charts: the workload's state after every so many
// positions of the log. The distance of two rows is a power of two, and doubles when there are
// HISTORY_ROWS_MAX. So the rows follow from the log alone, and a recount writes few of them.
#pragma once

#include "server/ledger/task.h"

enum { HISTORY_ROWS_MAX = 300 };

// The distance of the rows of a test that gave so many positions.
int64_t history_step(int64_t positions);
// After the last position of `count` was counted: adds its row, and removes those that are too
// close now.
bool history_add(Turn *turn, int64_t test, const TestCount *count, Error *err);
// Removes all rows of the test, before it is counted again.
bool history_drop(Turn *turn, int64_t test, Error *err);

// What machines show in their batches: sums for the page of suspect machines (suspects.h), and
// events when engines lose many games by their own fault. Nothing else follows from it.
#pragma once

#include "server/ledger/task.h"

// After a batch is in the log, whether it counts or not.
bool conduct_note(Turn *turn, const Batch *batch, const TaskRow *row, Error *err);

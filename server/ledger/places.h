// The order in which batches count. A batch has its place when it begins: when its task is dealt,
// or when the task's previous batch arrives. The place is the time at which it is due, when its
// machine should have played it, so it depends on no game of the batch. A batch that arrives waits
// while another one is under way that is due before it: so none counts sooner for having been
// quick. server/DESIGN.md, "The order of batches", says what that does to verdicts.
//
// The place of the batch under way stands in its open task (tasks.due). It is free when the batch
// arrives, or when the task ends, however it ends: then the batch never counts, and its pairs are
// dealt again with a new place. No heartbeat extends the time for a batch (tasks.batch_until), so
// nothing waits for ever. tests.unsettled is 1 while batches may wait for a place that is free.
#pragma once

#include "server/ledger/task.h"

// After a batch arrived: counts it and those that wait, as far as none that is due before them is
// under way, with all that follows from counting. Counts a few hundred at most, and leaves the rest
// to ledger_count_waiting().
bool places_settle(Turn *turn, int64_t test, Error *err);

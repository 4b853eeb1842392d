// What the counted batches of each owner make, apart for each level that it had: sums of units, and
// the workload's state as if they were all batches of the test. Kept with each batch, counted anew
// by recounts, compared by the audit.
#pragma once

#include "server/ledger/count.h"

// Adds a batch to totals in memory, a JSON object: {"2 user 1": {"units", "state"}, …}, the level
// before the owner.
void owner_totals_add(json_t *totals, const Count *count, const WorkloadBatch *batch);
// Adds a batch that has just been counted to those of the database.
bool owner_totals_count(Turn *turn, int64_t test, const Count *count, const WorkloadBatch *batch,
                        Error *err);
// Replaces those of a test by these.
bool owner_totals_store(Turn *turn, int64_t test, const json_t *totals, Error *err);
// Those of the database. New.
json_t *owner_totals_load(Db *db, int64_t test);

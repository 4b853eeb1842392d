// Counts a test again from its first batch: after an exclusion, or because another version of its
// workload counted it. That takes milliseconds for each hundred batches. So a reader prepares it,
// and the turn counts only the batches that came since, and writes. What it writes is limited: the
// totals, those of owners, and the history.
#pragma once

#include "server/ledger/task.h"

// A row of the log; the texts are borrowed.
typedef struct LoggedBatch {
    const char *told, *result, *owner;
    int64_t level, units;
} LoggedBatch;
// Counts it once more: in the results of its test, and in the totals of owners.
void recount_batch(Count *count, json_t *totals, const LoggedBatch *batch);

struct Recount {
    TestCount count;
    json_t *totals;       // of owners
    json_t *history;      // [[position, units, state], …]
    int64_t made, undone; // exclusions of the test when it began
    Excluded changed;     // by the change
};

// A change of the exclusions that is not stored yet: one more, one less, or {0}, none.
typedef struct RecountChange {
    const Exclusion *with;
    const char *owner; // of `with`
    int64_t without;   // an exclusion
} RecountChange;

// Counts nothing yet. False: 404 `no_such_test`, or as count_init(). Release it either way.
bool recount_begin(Turn *turn, int64_t test, Recount *recount, Error *err);
// Counts the batches that follow, at most `most`; -1: all. Reads only.
void recount_go_on(Turn *turn, int64_t test, const RecountChange *change, int64_t most,
                   Recount *recount);
// In the turn: whether what a reader counted still holds, so that only batches are missing. False:
// 409 `changed`.
bool recount_take_over(Turn *turn, int64_t test, Recount *recount, Error *err);
bool recount_store(Turn *turn, int64_t test, const Recount *recount, Error *err);
void recount_release(Recount *recount);

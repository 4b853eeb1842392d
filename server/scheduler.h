// Who gets what: a pure function from the active tests and one worker to a choice. No I/O, no
// clock, no memory of its own; the ledger feeds it rows and writes down what it says.
//
// Order as Fishtest's: priority first, then the test that has least cores for its weight (dearer
// clocks, few tests of the same author, long or promising runs weigh more).
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct SchedTest {
    int64_t id;
    int64_t priority;
    int threads, batch_pairs;
    int hash_mib;            // of both sides together
    int64_t pairs_left;      // neither counted nor in an open task
    int64_t games;           // counted so far
    double llr;              //
    double elo0;             // a gainer (elo0 > 0) weighs a little more once it promises
    double game_seconds;     // of one game at the worker's scale
    double tc_ratio;         // cost of a game against 10+0.1 with one thread
    int cores;               // in open tasks now
    int author_active_tests; // of the same author, with cores at work
    bool barred;             // this worker reported that it cannot play it
    bool was_last;           // this worker's last task was of this test
} SchedTest;

typedef struct SchedWorker {
    int cores, memory_mib;
} SchedWorker;

typedef struct SchedChoice {
    int64_t test; // 0: nothing to do
    int64_t pairs;
} SchedChoice;

enum { TASK_PAIRS_MAX = 2000 };

// `task_seconds`: how long a task should keep the worker busy.
SchedChoice scheduler_choose(const SchedTest *tests, int count, const SchedWorker *worker,
                             double task_seconds);

double scheduler_weight(const SchedTest *test);
bool scheduler_fits(const SchedTest *test, const SchedWorker *worker);
// Memory that `slots` games at once need.
int64_t scheduler_memory_mib(const SchedTest *test, int slots);
// Whole batches: at least one, at most half of what is left (so that the end of a test is shared
// and no worker sits on all of it), rounded up, and TASK_PAIRS_MAX.
int64_t scheduler_task_pairs(const SchedTest *test, const SchedWorker *worker, double task_seconds);

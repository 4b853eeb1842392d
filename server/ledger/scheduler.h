// Chooses a test for a worker: a pure function of the active tests and one worker. No I/O, no
// clock, no state. The ledger gives it rows and writes down its choice.
//
// The order is as in Fishtest: priority first, then the test with the fewest cores for its weight.
// Slower time controls, few tests of the same author, and long or promising runs weigh more.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "server/ledger/shares.h"
#include "server/ledger/trust.h"

typedef struct SchedTest {
    int64_t id;
    int64_t priority;
    int threads, batch_pairs;
    int64_t game_mib;        // the memory of a game: see game_memory.h
    int64_t pairs_left;      // neither counted, nor in an open task, nor waiting to be counted
    int64_t pairs_open;      // in open tasks
    int64_t pairs_of_owner;  // of these, in tasks of the worker's owner
    int64_t pairs_waiting;   // that this owner has played and that wait to be counted
    Shares counted, held;    // pairs by level: counted, and dealt and possibly counted later
    OwnerLevel level;        // of the worker's owner in this test
    bool is_author;          // that owner is the author, and others shall play most of the test
    int64_t pairs_author;    // of the author, counted so far
    int64_t games;           // counted so far
    double promise;          // of the workload, 0 to 1: a promising test weighs a little more
    double game_seconds;     // of one game at the worker's scale
    double tc_ratio;         // cost of a game relative to 10+0.1 with one thread
    int cores;               // of the open tasks, as far as the scheduler counts them
    int author_active_tests; // tests of the same author that have cores at work
    bool barred;             // this worker reported that it cannot play it
    bool was_last;           // this worker's last task was of this test
} SchedTest;

typedef struct SchedWorker {
    int cores, memory_mib;
    Trust trust;
    int tasks;         // that it holds now
    int others_cores;  // of the largest active machine of another owner; 0: there is none
    int vouched_cores; // the same among vouched owners
} SchedWorker;

typedef struct SchedChoice {
    int64_t test; // 0: no work
    int64_t pairs;
} SchedChoice;

enum { DEALT_PAIRS_MAX = 2000, FIRST_PAIRS_MAX = 32, FIRST_SECONDS_MAX = 300 };

// `task_seconds`: how long a task should keep the worker busy.
SchedChoice scheduler_choose(const SchedTest *tests, int count, const SchedWorker *worker,
                             double task_seconds);

double scheduler_weight(const SchedTest *test);
// Whether the worker can play the test at all, and whether it also may take pairs of it.
bool scheduler_can_play(const SchedTest *test, const SchedWorker *worker);
bool scheduler_fits(const SchedTest *test, const SchedWorker *worker);
// Cores of a task that the scheduler counts: 2 for a machine without counted batches, 4 if its
// owner is unproven. So no single machine can send many others to another test.
int scheduler_counted_cores(const SchedWorker *worker);
// Pairs of the test that the worker's owner may still take, in whole batches. If other owners that
// could play the test are active, an owner holds at most half of the pairs that are not counted.
// Owners that are not vouched for keep to their shares (shares.h), so they get nothing before a
// vouched owner has counted pairs. The author's machines make at most a third of the counted pairs
// while a vouched owner that could play the test is active.
int64_t scheduler_room(const SchedTest *test, const SchedWorker *worker);
// Seconds that the worker is expected to need for a batch.
double scheduler_batch_seconds(const SchedTest *test, const SchedWorker *worker);
// The size of a task: whole batches, at least one, at most DEALT_PAIRS_MAX, and at most half of the
// pairs that are left, rounded up, so that several workers share the end of a test. A machine
// without counted batches gets a task of a few minutes.
int64_t scheduler_task_pairs(const SchedTest *test, const SchedWorker *worker, double task_seconds);

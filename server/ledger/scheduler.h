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
    int64_t pairs_open;      // in open tasks
    int64_t pairs_of_owner;  // of these, in tasks of the worker's owner
    int64_t pairs_unproven;  // of these, in tasks of owners without a record
    int64_t games;           // counted so far
    double llr;              //
    double elo0;             // a gainer (elo0 > 0) weighs a little more once it promises
    double game_seconds;     // of one game at the worker's scale
    double tc_ratio;         // cost of a game against 10+0.1 with one thread
    int cores;               // in open tasks now, as far as they are believed
    int author_active_tests; // of the same author, with cores at work
    bool barred;             // this worker reported that it cannot play it
    bool was_last;           // this worker's last task was of this test
} SchedTest;

// What is known of a machine. Its own word is not enough: a machine that says that it has 4096
// cores may have none.
typedef enum {
    TRUST_NONE,    // none of its batches has counted yet
    TRUST_COUNTED, // one has
    TRUST_RECORD,  // its owner has a record
} SchedTrust;

typedef struct SchedWorker {
    int cores, memory_mib;
    SchedTrust trust;
    int tasks;        // that it holds
    int others_cores; // of the largest machine of another owner that is active; 0: there is none
    int proven_cores; // the same of owners with a record
} SchedWorker;

typedef struct SchedChoice {
    int64_t test; // 0: nothing to do
    int64_t pairs;
} SchedChoice;

enum { TASK_PAIRS_MAX = 2000, FIRST_PAIRS_MAX = 32, FIRST_SECONDS_MAX = 300 };
// Tasks that a machine may hold, and the cores that the scheduler counts, by SchedTrust.
enum { TASKS_MAX = 8 };

// `task_seconds`: how long a task should keep the worker busy.
SchedChoice scheduler_choose(const SchedTest *tests, int count, const SchedWorker *worker,
                             double task_seconds);

double scheduler_weight(const SchedTest *test);
bool scheduler_fits(const SchedTest *test, const SchedWorker *worker);
// Memory that `slots` games at once need.
int64_t scheduler_memory_mib(const SchedTest *test, int slots);
// Tasks that the worker may hold at once: the first must bring results before there is a second.
int scheduler_tasks_max(const SchedWorker *worker);
// Cores of a task that the scheduler counts: 2 of a machine that has shown nothing, 4 where its owner
// has no record, so that no machine alone sends many others to another test.
int scheduler_counted_cores(const SchedWorker *worker);
// Pairs that the worker's owner may yet take of the test. Where others are active who could play
// it, an owner holds at most half of what is not counted, one without a record a quarter. Where one
// with a record is active, those without hold at most half together, and the last batches are not
// for them. An owner alone may hold all.
int64_t scheduler_room(const SchedTest *test, const SchedWorker *worker);
// Seconds that the worker should need for a batch.
double scheduler_batch_seconds(const SchedTest *test, const SchedWorker *worker);
// Whole batches: at least one, at most half of what is left (so that the end of a test is shared
// and no worker sits on all of it), rounded up, and TASK_PAIRS_MAX. A machine of which no batch has
// counted gets what takes minutes.
int64_t scheduler_task_pairs(const SchedTest *test, const SchedWorker *worker, double task_seconds);

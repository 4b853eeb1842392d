// For the files of the ledger: a task with the data of its test. No file outside this folder
// includes this.
#pragma once

#include "server/ledger/begun.h"
#include "server/ledger/count.h"
#include "server/ledger/ledger.h"
#include "server/ledger/state.h"
#include "server/ledger/trust.h"

enum { SIDE_NAME_MAX = 32 };

typedef struct TaskRow {
    int64_t id, worker, first_pair, pair_count, plies, next_seq, started_pairs;
    double lease_until, lease_s, batch_until, batch_s;
    double due, expected_s; // the place of the batch under way: see places.h
    TaskState state;
    char phase[12];
    char owner[64], network[64];      // of its machine when it was dealt
    OwnerLevel level;                 // of the owner then
    char sides[2][SIDE_NAME_MAX + 1]; // that it plays; the second is "" if nothing is played
    bool blocked;                     // its machine is
    int64_t rerun_of;                 // the batch that it plays again; 0: none
    struct {
        int64_t id, batch_pairs;
        TestState state;
        bool plays_pairs; // its units are pairs of games
    } test;
} TaskRow;

// The results of a test. `positions` were given to batches so far.
typedef struct TestCount {
    Count count;
    int64_t positions;
    TestState state;
    json_t *told; // what the workload told the machine of the task
} TestCount;

enum { LEASE_FIRST_S = 30, LEASE_FETCH_S = 300, LEASE_BUILD_S = 1800, LEASE_BENCH_S = 600 };
enum { LEASE_PLAY_S = 300, ACTIVE_S = 600 };

// False: 404 `no_such_task`, or 403 `not_your_task` if `worker` is not 0 and the task is of another
// worker.
bool task_load(Turn *turn, int64_t task, int64_t worker, TaskRow *row, Error *err);
// `task` 0: none. False: 404 `no_such_test`, or as count_init(). Release it either way.
bool test_count_load(Turn *turn, int64_t test, int64_t task, TestCount *out, Error *err);
// The same with a new state, as if no batch had been counted, whatever is stored.
bool test_count_begin(Turn *turn, int64_t test, TestCount *out, Error *err);
void test_count_release(TestCount *count);
bool test_count_store(Turn *turn, int64_t test, const TestCount *count, Error *err);
// Whether the clock, the speed and the load that a batch reports are possible for its task. False:
// 422 `bad_clock`, `bad_speed` or `bad_request`.
bool conditions_check(Turn *turn, const Batch *batch, const TaskRow *row, Error *err);
// Whether the machine can have counted so many moves, and so many that were wrong. False: 422
// `bad_counts`, or `bad_request` if the test plays no games.
bool said_check(const Batch *batch, const TaskRow *row, Error *err);
bool said_store(Turn *turn, const Batch *batch, const TaskRow *row, Error *err);
// Whether the counts that are stored are those of the batch.
bool said_same(Turn *turn, const Batch *batch, const TaskRow *row);
// The first counted batch of a machine confirms the bench counts that its test declared.
bool bench_confirm(Turn *turn, const TaskRow *row, Error *err);
// Ends or pauses the test of a task if the result of its latest batch completes the proof that one
// of its sides computes in its opponent's time. The row has the new states.
bool ponders_weigh(Turn *turn, TaskRow *row, const json_t *result, Error *err);
// Whether the task plays the side. False: 422 `bad_request`.
bool task_plays(const TaskRow *row, const char *side, Error *err);
// Sends the new state to event streams. Wakes the waiting claims if there is work.
void test_state_changed(Turn *turn, int64_t test, const char *state);
// Pauses an active test because its machines contradict each other. Pages show the reason.
bool test_suspend(Turn *turn, int64_t test, const char *reason, Error *err);
bool task_is_open(const TaskRow *row);
// The reply that tells the worker whether to continue.
TaskReply task_reply(Turn *turn, const TaskRow *row);
// Ends an open task as `state`. Pairs that were not reported return in whole batches.
bool task_end(Turn *turn, TaskRow *row, TaskState state, Error *err);
// Returns the pairs that were not reported. Those of batches that had begun keep the name of their
// owner.
bool task_return_unreported(Turn *turn, const TaskRow *row, Error *err);
// The task as begun.h has it; borrows the row.
BegunTask task_begun(const TaskRow *row);
// `started_pairs` as the worker reported it, limited to between the reported pairs and the whole
// task.
void task_note_started(TaskRow *row, int64_t started_pairs);

// The limits of flags from the operator's settings.
FlagLimits flag_limits(Turn *turn);

// Whether the options of the side's commit are known and permit those of the side.
bool options_permit(Turn *turn, int64_t test, const char *side);

// Replays the games of a batch that is well-formed. Reads only.
bool batch_replay(Turn *reader, const char *data, Batch *batch, int64_t pairs, Error *err);
// Whether none of its games has the mark of one that was stored for an open test. 422
// `replay_mismatch`.
bool prints_check(Turn *turn, const Batch *batch, Error *err);
bool prints_store(Turn *turn, const Batch *batch, int64_t test, Error *err);
// Writes the row of a failure. The caller ends the task.
bool failure_store(Turn *turn, const TaskRow *row, const Failure *failure, Error *err);

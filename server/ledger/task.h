// Inside the ledger: a task with what its test says, and the ranges of pairs that go back and
// forth. Only ledger*.c includes this.
#pragma once

#include "server/ledger/ledger.h"
#include "server/ledger/sprt_state.h"
#include "server/ledger/state.h"
#include "server/ledger/tally.h"

typedef struct TaskRow {
    int64_t id, worker, first_pair, pair_count, plies, next_seq, started_pairs;
    double lease_until, lease_s, batch_until, batch_s;
    TaskState state;
    char phase[12], owner[64];
    bool blocked; // its machine
    struct {
        int64_t id;
        TestState state;
        TestRule rule;
        Tally tally;
    } test;
} TaskRow;

enum { LEASE_FIRST_S = 30, LEASE_FETCH_S = 300, LEASE_BUILD_S = 1800, LEASE_BENCH_S = 600 };
enum { LEASE_PLAY_S = 300, ACTIVE_S = 600 };

// False: 404 `no_such_task`, or 403 `not_your_task` where `worker` is not 0 and not its own.
bool task_load(Turn *turn, int64_t task, int64_t worker, TaskRow *row, Error *err);
// The members of `test` alone. False: 404 `no_such_test`.
bool test_load(Turn *turn, int64_t test, TaskRow *row, Error *err);
// A machine whose first batch counts stands for the bench counts that its test declared.
bool bench_confirm(Turn *turn, int64_t test, int64_t worker, Error *err);
// Pauses an active test because its machines contradict each other; the reason is shown.
bool test_suspend(Turn *turn, int64_t test, const char *reason, Error *err);
bool task_is_open(const TaskRow *row);
// What the worker is to do next.
TaskReply task_reply(Turn *turn, const TaskRow *row);
// Ends an open task as `state`; what was not reported of it goes back in whole batches.
bool task_end(Turn *turn, TaskRow *row, TaskState state, Error *err);
// `started_pairs` as told by the worker, kept between what is reported and the whole task.
void task_note_started(TaskRow *row, int64_t started_pairs);

// The limits of flags as the operator set them.
FlagLimits flag_limits(Turn *turn);

// Writes the row of a failure; the task is the caller's to end.
bool failure_store(Turn *turn, const TaskRow *row, const Failure *failure, Error *err);

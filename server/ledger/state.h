// The states of tests and tasks, as the schema names them.
#pragma once

#include <stdbool.h>

typedef enum {
    TEST_PENDING, // waits for approval
    TEST_ACTIVE,  // in the queue
    TEST_PAUSED,
    TEST_FINISHED,
    TEST_STATE_COUNT
} TestState;
const char *test_state_name(TestState state);
TestState test_state_of(const char *name); // TEST_STATE_COUNT if there is no state of that name
// The test is approved and not finished: results may still count.
bool test_state_is_open(TestState state);

typedef enum {
    TASK_OPEN,
    TASK_DONE,
    TASK_RELEASED,
    TASK_EXPIRED,
    TASK_FAILED,
    TASK_STOPPED, // its test ended
    TASK_STATE_COUNT
} TaskState;
const char *task_state_name(TaskState state);
TaskState task_state_of(const char *name);

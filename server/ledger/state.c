// See state.h.
#include "server/ledger/state.h"

#include <string.h>

static const char *const test_names[TEST_STATE_COUNT] = {
    [TEST_PENDING] = "pending",
    [TEST_ACTIVE] = "active",
    [TEST_PAUSED] = "paused",
    [TEST_FINISHED] = "finished",
};

static const char *const task_names[TASK_STATE_COUNT] = {
    [TASK_OPEN] = "open",       [TASK_DONE] = "done",     [TASK_RELEASED] = "released",
    [TASK_EXPIRED] = "expired", [TASK_FAILED] = "failed", [TASK_STOPPED] = "stopped",
};

static int find(const char *const *names, int count, const char *name) {
    int at = 0;
    while (at < count && strcmp(names[at], name) != 0)
        at++;
    return at;
}

const char *test_state_name(TestState state) {
    return test_names[state];
}

TestState test_state_of(const char *name) {
    return (TestState)find(test_names, TEST_STATE_COUNT, name);
}

bool test_state_is_open(TestState state) {
    return state == TEST_ACTIVE || state == TEST_PAUSED;
}

const char *task_state_name(TaskState state) {
    return task_names[state];
}

TaskState task_state_of(const char *name) {
    return (TaskState)find(task_names, TASK_STATE_COUNT, name);
}

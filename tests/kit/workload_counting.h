// A workload that plays no games, for tests. A unit is a position, told() lists the numbers of the
// positions of a task, and a result has the nodes of each position: {"nodes": [5, 9]}. A search of
// position n takes at least n nodes. The test ends with its last unit.
#pragma once

#include "server/ledger/workload.h"

extern const Workload workload_counting; // workload_add() makes it known

// What ended() was told.
typedef struct CountingEnd {
    int calls;
    int64_t test;
    char result[16], state[16]; // the state that the test had in the database
    bool refuses;               // set by a test: ended() fails
} CountingEnd;
extern CountingEnd counting_end;

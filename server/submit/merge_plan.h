// What a merge will do, for pages: merge.h has the rules.
#pragma once

#include <jansson.h>

#include "server/submit/caller.h"
#include "sql/tests.h"

enum { PLAN_WHY_MAX = 400, PLAN_SINCE_MAX = 100 };

typedef struct MergePlan {
    bool forward;           // the branch moves to the tested commit
    bool trial;             // it is merged without a new test
    char why[PLAN_WHY_MAX]; // else: why it needs one
    json_t *since; // commits that the change was never tested with, as untested_since(); NULL: none
                   // or not known
} MergePlan;

// False: the change does not fit the baseline. Writes nothing. For readers.
bool merge_plan(const Caller *caller, const SqlTestForChange *test, MergePlan *plan, Error *err);
void merge_plan_release(MergePlan *plan);

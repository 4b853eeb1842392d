// For tests of merges, on top of the kit of submissions. A failure ends the test.
#pragma once

#include "server/submit/merge.h"
#include "tests/kit/submit_kit.h"

// A value of the test's row.
void assert_column(SubmitKit *kit, int64_t test, const char *column, const char *wanted);
// That the newest event of the type and the test has the part.
void assert_event(SubmitKit *kit, int64_t test, const char *type, const char *part);
// A test that was submitted and approved.
int64_t kit_approved(SubmitKit *kit, const char *fields, const char *patch);
void kit_accept(SubmitKit *kit, int64_t test);
// The test is accepted and merged.
MergeEnd kit_merge_as(SubmitKit *kit, int64_t user, int64_t test);
// The same by the maintainer, without a trial. The new test that it makes; 0: the branch has moved.
int64_t kit_merge(SubmitKit *kit, int64_t test);
// From now on nothing is merged without a new test.
void kit_test_everything(SubmitKit *kit);

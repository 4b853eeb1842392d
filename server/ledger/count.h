// The results of a test as its workload counts them, batch by batch in the order of their
// positions. Counting a batch, counting a test again after an exclusion, and the audit all use
// count_add(). So the same log always has the same result.
#pragma once

#include "server/ledger/shares.h"
#include "server/ledger/workload.h"

enum { COUNT_SUMMARY_MAX = 200 };

typedef struct Count {
    const Workload *workload;
    WorkloadTest test; // its parameters are borrowed from `parameters`
    json_t *parameters, *state;
    int64_t units;
    Shares counted;               // of the units, by level
    int64_t author, author_units; // the test's author, and the units of that account's machines
} Count;

// The texts of a row. `state` "{}" begins a test. False: 500, this server has no such workload, or
// cannot read the texts, or the state is of another version (ledger_recount_outdated). Free it
// either way.
bool count_init(Count *count, const char *workload, const char *parameters, const char *state,
                Error *err);
void count_release(Count *count);
// A new test with the same parameters.
void count_restart(Count *count);
// Does not change the members of `batch`, and its `sign` is 1.
void count_add(Count *count, const WorkloadBatch *batch);
// The result that these units make; NULL: the test goes on. If `spent`, no further unit can come
// (book_use.h), as if the test had reached its length, so there is a result. While the shares do
// not hold, a verdict waits for units that restore them, and at the test's length it is none.
const char *count_judge(const Count *count, bool spent);

// Texts for the database, in one form: sorted, numbers with 17 digits. New, malloc'ed.
char *count_state_text(const Count *count);
char *count_points_text(const Count *count);
char *count_text(const json_t *value);
// Whether two stored numbers are equal; true for two NANs.
bool numbers_equal(double a, double b);
void count_summary(const Count *count, char out[COUNT_SUMMARY_MAX]);

// Exclusions: the batches of a machine are removed from a test's results or put back, and the test
// is counted again from its first batch. See ledger.h.
#include <string.h>

#include "server/ledger/recount.h"
#include "server/ledger/result.h"
#include "server/ledger/task.h"
#include "sql/ledger.h"

// ---- exclusions ---------------------------------------------------------------------------------

static bool machine_check(Turn *turn, int64_t worker, Error *err) {
    return sql_ledger_worker_there(turn->db, worker) ||
           error_field(err, 404, "no_such_machine", "worker", "there is no machine %lld",
                       (long long)worker);
}

// After a change of the exclusions of a machine in a test: updates its batches, then the test.
static bool exclusions_apply(Turn *turn, int64_t test, TestCount *count, int64_t worker,
                             Excluded *changed, Error *err) {
    TaskRow row = {.test = {.id = test, .state = count->state}};
    SqlLedgerExclusionChanges changes = {0};
    sql_ledger_exclusion_changes(turn->db, &changes, .test = test, .worker = worker);
    *changed = (Excluded){.batches = changes.batches, .pairs = changes.pairs};
    if (!sql_ledger_exclusion_apply(turn->db, err, .test = test, .worker = worker) ||
        !test_recount(turn, test, count, err))
        return false;
    publish_counts(turn, test, count);
    return !test_state_is_open(count->state) || test_judge(turn, &row, count, err);
}

bool ledger_exclude(Turn *turn, const Exclusion *exclusion, Excluded *changed, Error *err) {
    scope(test_count_release) TestCount count = {0};
    const Exclusion *x = exclusion;
    if (strcmp(x->which, "flagged") != 0 && strcmp(x->which, "all") != 0)
        return error_field(err, 422, "bad_request", "which", "which is flagged or all");
    if (!test_count_load(turn, x->test, 0, &count, err) || !machine_check(turn, x->worker, err))
        return false;
    if (!sql_ledger_excludable(turn->db, .test = x->test, .worker = x->worker, .which = x->which))
        return error_field(err, 409, "nothing_to_exclude", "which",
                           "machine %lld has no such batch that counts in test %lld",
                           (long long)x->worker, (long long)x->test);
    if (!sql_ledger_exclusion_add(turn->db, err, .test = x->test, .worker = x->worker,
                                  .which = x->which, .reason = x->reason, .user = x->user,
                                  .now = turn->now) ||
        !exclusions_apply(turn, x->test, &count, x->worker, changed, err))
        return false;
    ledger_event(turn, "excluded", x->user, x->worker, x->test,
                 "%s batches of this machine are excluded: %lld pairs%s%s",
                 strcmp(x->which, "all") == 0 ? "all" : "flagged", (long long)changed->pairs,
                 *x->reason ? ": " : "", x->reason);
    return true;
}

bool ledger_include(Turn *turn, int64_t test, int64_t worker, int64_t user, Excluded *changed,
                    Error *err) {
    scope(test_count_release) TestCount count = {0};
    if (!test_count_load(turn, test, 0, &count, err) || !machine_check(turn, worker, err) ||
        !sql_ledger_exclusion_undo(turn->db, err, .test = test, .worker = worker, .user = user,
                                   .now = turn->now))
        return false;
    if (!db_changes(turn->db))
        return error_set(err, 409, "not_excluded",
                         "no batch of machine %lld is excluded from test %lld", (long long)worker,
                         (long long)test);
    if (!exclusions_apply(turn, test, &count, worker, changed, err))
        return false;
    ledger_event(turn, "excluded", user, worker, test,
                 "the exclusion of this machine was undone: %lld pairs count again",
                 (long long)changed->pairs);
    return true;
}

// Exclusions: the batches of a machine are removed from a test's results or put back, and the test
// is counted again from its first batch. Also machines that are blocked. See ledger.h.
#include <string.h>

#include "server/ledger/result.h"
#include "server/ledger/task.h"

// ---- counting again -----------------------------------------------------------------------------

static BatchCounts counts_of(Query *q) {
    return (BatchCounts){query_text(q, COL_LEDGER_BATCHES_IN_TIME_OUTCOMES),
                         query_int(q, COL_LEDGER_BATCHES_IN_TIME_WINS),
                         query_int(q, COL_LEDGER_BATCHES_IN_TIME_LOSSES),
                         query_int(q, COL_LEDGER_BATCHES_IN_TIME_DRAWS),
                         query_int(q, COL_LEDGER_BATCHES_IN_TIME_CRASHES),
                         query_int(q, COL_LEDGER_BATCHES_IN_TIME_TIME_LOSSES)};
}

// Counts the test again from its first batch and writes what differs. `row` gets the new values. An
// existing verdict stays.
static bool recount(Turn *turn, TaskRow *row, Error *err) {
    Tally *tally = &row->test.tally;
    *tally = (Tally){0};
    for (Query q = query(turn->db, SQL_LEDGER_BATCHES_IN_TIME, "i", row->test.id);
         query_step(&q);) {
        BatchCounts counts = counts_of(&q);
        if (query_int(&q, COL_LEDGER_BATCHES_IN_TIME_COUNTED) &&
            !query_int(&q, COL_LEDGER_BATCHES_IN_TIME_EXCLUDED))
            tally_add(tally, &row->test.rule, &counts);
        if (!numbers_equal(tally->sprt.llr, query_real(&q, COL_LEDGER_BATCHES_IN_TIME_LLR)) &&
            !db_run(turn->db, err, SQL_LEDGER_BATCH_LLR, "id",
                    query_int(&q, COL_LEDGER_BATCHES_IN_TIME_ID), tally->sprt.llr)) {
            query_end(&q);
            return false;
        }
    }
    return db_write(turn->db, err, SQL_LEDGER_TEST_COUNTED, tally_row(tally, row->test.id));
}

// ---- exclusions ---------------------------------------------------------------------------------

static bool names_check(Turn *turn, int64_t test, int64_t worker, TaskRow *row, Error *err) {
    if (!test_load(turn, test, row, err))
        return false;
    return db_int(turn->db, SQL_LEDGER_WORKER_THERE, 0, "i", worker) ||
           error_field(err, 404, "no_such_machine", "worker", "there is no machine %lld",
                       (long long)worker);
}

// After a change of the exclusions of a machine in a test: updates its batches, then the test.
static bool exclusions_apply(Turn *turn, TaskRow *row, int64_t worker, Excluded *changed,
                             Error *err) {
    Query q = query(turn->db, SQL_LEDGER_EXCLUSION_CHANGES, "ii", row->test.id, worker);
    if (query_step(&q)) {
        *changed = (Excluded){query_int(&q, COL_LEDGER_EXCLUSION_CHANGES_BATCHES),
                              query_int(&q, COL_LEDGER_EXCLUSION_CHANGES_PAIRS)};
        query_end(&q);
    }
    if (!db_run(turn->db, err, SQL_LEDGER_EXCLUSION_APPLY, "ii", row->test.id, worker) ||
        !recount(turn, row, err))
        return false;
    publish_counts(turn, row);
    bool is_open = test_state_is_open(row->test.state);
    return !is_open || test_judge(turn, row, err);
}

bool ledger_exclude(Turn *turn, const Exclusion *exclusion, Excluded *changed, Error *err) {
    TaskRow row = {0};
    const Exclusion *x = exclusion;
    if (strcmp(x->which, "flagged") != 0 && strcmp(x->which, "all") != 0)
        return error_field(err, 422, "bad_request", "which", "which is flagged or all");
    if (!names_check(turn, x->test, x->worker, &row, err))
        return false;
    if (!db_int(turn->db, SQL_LEDGER_EXCLUDABLE, 0, "iis", x->test, x->worker, x->which))
        return error_field(err, 409, "nothing_to_exclude", "which",
                           "machine %lld has no such batch that counts in test %lld",
                           (long long)x->worker, (long long)x->test);
    if (!db_write(turn->db, err, SQL_LEDGER_EXCLUSION_ADD,
                  json_pack("{s:I, s:I, s:s, s:s, s:I, s:f}", "test", (json_int_t)x->test, "worker",
                            (json_int_t)x->worker, "which", x->which, "reason", x->reason, "user",
                            (json_int_t)x->user, "created", turn->now)) ||
        !exclusions_apply(turn, &row, x->worker, changed, err))
        return false;
    ledger_event(turn, "excluded", x->user, x->worker, x->test,
                 "%s batches of this machine are excluded: %lld pairs%s%s",
                 strcmp(x->which, "all") == 0 ? "all" : "flagged", (long long)changed->pairs,
                 *x->reason ? ": " : "", x->reason);
    return true;
}

bool ledger_include(Turn *turn, int64_t test, int64_t worker, int64_t user, Excluded *changed,
                    Error *err) {
    TaskRow row = {0};
    if (!names_check(turn, test, worker, &row, err) ||
        !db_write(turn->db, err, SQL_LEDGER_EXCLUSION_UNDO,
                  json_pack("{s:I, s:I, s:f, s:I}", "test", (json_int_t)test, "worker",
                            (json_int_t)worker, "now", turn->now, "user", (json_int_t)user)))
        return false;
    if (!db_changes(turn->db))
        return error_set(err, 409, "not_excluded",
                         "no batch of machine %lld is excluded from test %lld", (long long)worker,
                         (long long)test);
    if (!exclusions_apply(turn, &row, worker, changed, err))
        return false;
    ledger_event(turn, "excluded", user, worker, test,
                 "the exclusion of this machine was undone: %lld pairs count again",
                 (long long)changed->pairs);
    return true;
}

// ---- machines that are blocked ------------------------------------------------------------------

// Ends its tasks. Other machines play the pairs that were not started.
static bool tasks_release(Turn *turn, int64_t worker, Error *err) {
    for (int64_t task;
         (task = db_int(turn->db, SQL_LEDGER_WORKER_OPEN_TASKS, 0, "i", worker)) > 0;) {
        TaskRow row;
        if (!task_load(turn, task, 0, &row, err) || !task_end(turn, &row, TASK_RELEASED, err))
            return false;
    }
    return true;
}

bool ledger_block(Turn *turn, int64_t worker, bool block, int64_t user, const char *reason,
                  Error *err) {
    int64_t blocked = db_int(turn->db, SQL_LEDGER_WORKER_BLOCKED, -1, "i", worker);
    if (blocked < 0)
        return error_set(err, 404, "no_such_machine", "there is no machine %lld",
                         (long long)worker);
    if (blocked == block)
        return error_set(err, 409, "wrong_state", "machine %lld is %s", (long long)worker,
                         block ? "already blocked" : "not blocked");
    if (!db_run(turn->db, err, SQL_LEDGER_WORKER_BLOCK, "ii", worker, (int64_t)block) ||
        (block && !tasks_release(turn, worker, err)))
        return false;
    ledger_event(turn, block ? "blocked" : "unblocked", user, worker, 0, "machine %s%s%s",
                 block ? "blocked" : "unblocked", *reason ? ": " : "", reason);
    return true;
}

// Reopening a test whose verdict its batches no longer make. See ledger.h.
#include "server/ledger/result.h"
#include "server/ledger/verdict_mark.h"
#include "sql/ledger.h"

// The pairs that the tasks of the test had not reported when its end stopped them.
static bool return_stopped(Turn *turn, int64_t test, Error *err) {
    SqlLedgerTasksOfEndRows rows scope(sql_rows_end) = sql_ledger_tasks_of_end(turn->db, test);
    while (sql_ledger_tasks_of_end_next(&rows)) {
        TaskRow row;
        if (!task_load(turn, rows.row.id, 0, &row, err) || !task_return_unreported(turn, &row, err))
            return false;
    }
    return true;
}

bool ledger_test_reopen(Turn *turn, int64_t test, int64_t user, const char *reason, Error *err) {
    char *state scope(free_ptr) = sql_ledger_test_state(turn->db, test),
                *verdict scope(free_ptr) = sql_ledger_verdict(turn->db, test);
    if (!state)
        return error_set(err, 404, "no_such_test", "there is no test %lld", (long long)test);
    if (!verdict)
        return error_set(err, 409, "wrong_state", "test %lld has no verdict", (long long)test);
    if (verdict_stands(turn->db, test))
        return error_set(err, 409, "wrong_state",
                         "the batches of test %lld that count make its verdict, %s; it would end "
                         "again at once",
                         (long long)test, verdict);
    if (!sql_ledger_reopening_add(turn->db, err, .test = test, .user = user, .reason = reason,
                                  .now = turn->now) ||
        !return_stopped(turn, test, err) || !sql_ledger_test_reopened(turn->db, err, test))
        return false;
    ledger_event(turn, "reopened", user, 0, test, "reopened, its verdict was %s: %s", verdict,
                 reason);
    test_state_changed(turn, test, "active");
    return test_judge_again(turn, test, err);
}

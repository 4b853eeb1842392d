// Machines that are blocked, unblocked and re-tested: a maintainer's act, logged with what the
// machine is suspected of at that moment. See ledger.h.
#include "server/ledger/rerun.h"
#include "server/ledger/suspects.h"
#include "server/ledger/task.h"
#include "sql/ledger.h"

// Ends its tasks. Other machines play the pairs that were not started.
static bool tasks_release(Turn *turn, int64_t worker, Error *err) {
    for (int64_t task; (task = sql_ledger_worker_open_task(turn->db, 0, worker)) > 0;) {
        TaskRow row;
        if (!task_load(turn, task, 0, &row, err) || !task_end(turn, &row, TASK_RELEASED, err))
            return false;
    }
    return true;
}

bool ledger_block(Turn *turn, int64_t worker, bool block, int64_t user, const char *reason,
                  Error *err) {
    int64_t blocked = sql_ledger_worker_blocked(turn->db, -1, worker);
    if (blocked < 0)
        return error_set(err, 404, "no_such_machine", "there is no machine %lld",
                         (long long)worker);
    if (blocked == block)
        return error_set(err, 409, "wrong_state", "machine %lld is %s", (long long)worker,
                         block ? "already blocked" : "not blocked");
    char *evidence scope(free_ptr) = suspects_evidence(turn->db, turn->now, worker);
    if (!sql_ledger_worker_block(turn->db, err, .worker = worker, .blocked = block,
                                 .now = turn->now) ||
        (block && !tasks_release(turn, worker, err)))
        return false;
    ledger_event(turn, block ? "blocked" : "unblocked", user, worker, 0, "machine %s%s%s. %s",
                 block ? "blocked" : "unblocked", *reason ? ": " : "", reason, evidence);
    return true;
}

bool ledger_retest(Turn *turn, int64_t worker, int64_t user, const char *reason, Error *err) {
    if (sql_ledger_worker_blocked(turn->db, -1, worker) < 0)
        return error_set(err, 404, "no_such_machine", "there is no machine %lld",
                         (long long)worker);
    char *evidence scope(free_ptr) = suspects_evidence(turn->db, turn->now, worker);
    if (!rerun_is_on(turn->db, err) || !sql_rerun_anew(turn->db, err, worker))
        return false;
    ledger_event(turn, "retest", user, worker, 0,
                 "the games of this machine's owner are checked from the beginning%s%s. %s",
                 *reason ? ": " : "", reason, evidence);
    return true;
}

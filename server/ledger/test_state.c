// The states of tests, see ledger.h.
#include "server/ledger/ledger.h"

#include <stdarg.h>
#include <string.h>

#include "server/common/hash.h"
#include "server/ledger/play_speed.h"
#include "server/ledger/task.h"
#include "sql/ledger.h"

// ---- states of a test ---------------------------------------------------------------------------

// The test's state, which must be among `allowed` ("pending paused"). False: 404 or 409.
static bool state_check(Turn *turn, int64_t test, const char *allowed, Error *err) {
    char *state scope(free_ptr) = sql_ledger_test_state(turn->db, test);
    if (!state)
        return error_set(err, 404, "no_such_test", "there is no test %lld", (long long)test);
    if (strstr(allowed, state))
        return true;
    return error_set(err, 409, "wrong_state", "test %lld is %s", (long long)test, state);
}

void test_state_changed(Turn *turn, int64_t test, const char *state) {
    turn_publish(turn, "test", json_pack("{s:I, s:s}", "id", (json_int_t)test, "state", state));
    if (strcmp(state, "active") == 0)
        turn_wake(turn);
}

// An author who knew the order of the openings could tune a patch to those that are dealt first. So
// the seed is drawn here, and a test that has one keeps it: to withdraw a test and approve it again
// draws no better order.
bool ledger_test_activate(Turn *turn, int64_t test, int64_t user, const char *hash,
                          const char *words, Error *err) {
    uint64_t seed;
    random_bytes(&seed, sizeof seed);
    if (!state_check(turn, test, "pending", err) ||
        !sql_ledger_test_activate(turn->db, err, .test = test, .hash = hash, .user = user,
                                  .seed = (int64_t)(seed >> 11))) // 53 bits: exact in JSON
        return false;
    ledger_event(turn, "approved", user, 0, test, "%s", words);
    test_state_changed(turn, test, "active");
    return true;
}

static bool tasks_stop_returning(Turn *turn, int64_t test, Error *err) {
    // One at a time, because ending a task changes the index that a query would read.
    for (int64_t task; (task = sql_ledger_test_task(turn->db, 0, test)) > 0;) {
        TaskRow row;
        if (!task_load(turn, task, 0, &row, err) || !task_end(turn, &row, TASK_STOPPED, err))
            return false;
    }
    return true;
}

bool ledger_test_withdraw(Turn *turn, int64_t test, int64_t user, const char *why, Error *err) {
    if (!state_check(turn, test, "active paused", err) || !tasks_stop_returning(turn, test, err) ||
        !sql_ledger_test_withdraw(turn->db, err, test))
        return false;
    ledger_event(turn, "withdrawn", user, 0, test, "approval withdrawn: %s", why);
    test_state_changed(turn, test, "pending");
    return true;
}

bool ledger_test_widen(Turn *turn, int64_t test, int64_t user, const char *hash, bool restart,
                       const char *why, Error *err) {
    char *state scope(free_ptr) = sql_ledger_test_state(turn->db, test);
    if (!state_check(turn, test, "active paused", err) ||
        (restart && !tasks_stop_returning(turn, test, err)) ||
        !sql_ledger_test_approved_as(turn->db, err, .test = test, .hash = hash, .before = ""))
        return false;
    ledger_event(turn, "widened", user, 0, test, "changed, and still approved: %s", why);
    test_state_changed(turn, test, state);
    return true;
}

static bool test_set_state(Turn *turn, int64_t test, int64_t user, const char *from, const char *to,
                           const char *event, Error *err) {
    if (!state_check(turn, test, from, err) ||
        !sql_ledger_test_set_state(turn->db, err, .test = test, .state = to))
        return false;
    ledger_event(turn, event, user, 0, test, "%s", event);
    test_state_changed(turn, test, to);
    return true;
}

bool ledger_test_pause(Turn *turn, int64_t test, int64_t user, Error *err) {
    return test_set_state(turn, test, user, "active", "paused", "paused", err);
}

bool test_suspend(Turn *turn, int64_t test, const char *reason, Error *err) {
    if (!state_check(turn, test, "active paused", err) ||
        !sql_ledger_test_suspend(turn->db, err, .test = test, .reason = reason))
        return false;
    ledger_event(turn, "paused", 0, 0, test, "%s", reason);
    test_state_changed(turn, test, "paused");
    return true;
}

// The person who resumes a test wants machines to try it again. So bench counts that are not
// established and the lists of the engines' options are forgotten, and earlier failures neither
// exclude a machine nor confirm another failure.
bool ledger_test_resume(Turn *turn, int64_t test, int64_t user, Error *err) {
    char *state scope(free_ptr) = sql_ledger_test_resumable(turn->db, test);
    if (!state)
        return error_set(err, 404, "no_such_test", "there is no test %lld", (long long)test);
    if (strcmp(state, "paused") != 0 && strcmp(state, "failed") != 0)
        return error_set(err, 409, "wrong_state", "test %lld is %s", (long long)test, state);
    if (!sql_ledger_test_resumed(turn->db, err, .test = test, .now = turn->now) ||
        !sql_ledger_benches_forget(turn->db, err, test) ||
        !sql_ledger_option_lists_forget(turn->db, err, test) ||
        !sql_ledger_options_forget(turn->db, err, test))
        return false;
    ledger_event(turn, "resumed", user, 0, test, "resumed");
    test_state_changed(turn, test, "active");
    return true;
}

bool ledger_test_stop(Turn *turn, int64_t test, int64_t user, const char *reason, Error *err) {
    return ledger_test_finish(turn, test, user, "stopped", "stopped", reason, err);
}

// Ends the open tasks. Pairs that were returned are kept: the test may be resumed or reopened,
// unless a person stopped it. After a verdict, batches are still played again (rerun.h).
static bool finish_tasks(Turn *turn, int64_t test, const char *result, Error *err) {
    if (strcmp(result, "failed") == 0)
        return tasks_stop_returning(turn, test, err);
    bool by_person = strcmp(result, "stopped") == 0;
    return sql_ledger_tasks_stop(turn->db, err, .test = test, .now = turn->now,
                                 .reruns = by_person) &&
           play_speed_judge_stopped(turn, test, err) &&
           (!by_person || sql_ledger_returned_clear(turn->db, err, test));
}

// A test of a workload that this server does not have ends as well.
static bool workload_ended(Turn *turn, int64_t test, const char *result, Error *err) {
    char *name scope(free_ptr) = sql_ledger_test_workload(turn->db, test);
    const Workload *workload = name ? workload_named(name) : NULL;
    return !workload || workload->ended(turn, test, result, err);
}

// Open tasks end here. Their workers learn it from the reply to their next message.
bool ledger_test_finish(Turn *turn, int64_t test, int64_t user, const char *result,
                        const char *event, const char *reason, Error *err) {
    if (!state_check(turn, test, "pending active paused", err) ||
        !finish_tasks(turn, test, result, err) ||
        !sql_ledger_test_finish(turn->db, err, .test = test, .result = result, .reason = reason,
                                .now = turn->now))
        return false;
    ledger_event(turn, event, user, 0, test, "%s%s%s", result, *reason ? ": " : "", reason);
    test_state_changed(turn, test, "finished");
    return workload_ended(turn, test, result, err);
}

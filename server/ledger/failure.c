// Reports of machines that cannot play a side. The machine of one owner may be broken, so another
// owner must confirm the failure if one is active: see quorum.h.
#include <string.h>

#include "server/ledger/quorum.h"
#include "server/ledger/task.h"
#include "sql/ledger.h"

enum { REASON_LOG_MAX = 1500, REASON_LIST_MAX = 16000 };

// ---- failures -----------------------------------------------------------------------------------

bool failure_store(Turn *turn, const TaskRow *row, const Failure *failure, Error *err) {
    return sql_ledger_failure_add(
        turn->db, err, .test = row->test.id, .task = row->id, .worker = failure->worker,
        .owner = row->owner, .network = row->network, .level = row->level, .kind = failure->kind,
        .side = failure->side, .message = failure->message, .log = failure->log,
        .bench = failure->bench, .now = turn->now);
}

// The query returns the owners that failed or played first. If there are more than VOICES_MAX
// owners, only other owners are left out.
static FailureDecision failure_decision(Turn *turn, const Failure *failure, int64_t test) {
    Voice *voices scope(free_ptr) = xcalloc(VOICES_MAX, sizeof *voices);
    int count = 0;
    SqlLedgerFailureVoicesRows rows scope(sql_rows_end) = sql_ledger_failure_voices(
        turn->db, .test = test, .kind = failure->kind, .side = failure->side,
        .since = turn->now - ACTIVE_S, .most = VOICES_MAX);
    while (sql_ledger_failure_voices_next(&rows)) {
        Voice *voice = &voices[count++];
        *voice = (Voice){.level = (OwnerLevel)rows.row.level,
                         .failing = rows.row.failing,
                         .played = rows.row.played,
                         .could_try = rows.row.could};
        snprintf(voice->owner, sizeof voice->owner, "%s", rows.row.owner);
        snprintf(voice->network, sizeof voice->network, "%s", rows.row.network);
        snprintf(voice->first, sizeof voice->first, "%s", rows.row.first);
    }
    return failure_weigh_voices(voices, count);
}

static bool is_of_the_test(const char *kind) {
    static const char *const kinds[] = {"build", "bench", "option", "engine"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kind, kinds[i]) == 0)
            return true;
    return false;
}

static bool failure_check(const Failure *failure, const TaskRow *row, Error *err) {
    if (!is_of_the_test(failure->kind) && strcmp(failure->kind, "sandbox") != 0 &&
        strcmp(failure->kind, "machine") != 0)
        return error_field(err, 422, "bad_request", "kind",
                           "kind is build, bench, option, engine, sandbox or machine");
    if (*failure->side && !task_plays(row, failure->side, err))
        return false;
    if (!*failure->message || strlen(failure->message) > 1000)
        return error_field(err, 422, "bad_request", "message", "message is 1 to 1000 bytes");
    if (strlen(failure->log) > FAILURE_LOG_MAX)
        return error_field(err, 422, "bad_request", "log", "log is at most %d bytes",
                           FAILURE_LOG_MAX);
    if (failure->bench < 0)
        return error_field(err, 422, "bad_request", "bench", "bench is a count of nodes");
    return true;
}

// The text of the failure: its message and the end of its log. The log of kind `option` is the list
// of the engine's options, of which a reader needs all.
static char *failure_reason(const Failure *failure) {
    size_t size = strlen(failure->log);
    size_t most = strcmp(failure->kind, "option") == 0 ? REASON_LIST_MAX : REASON_LOG_MAX;
    const char *tail = failure->log + (size > most ? size - most : 0);
    while (tail > failure->log && (*tail & 0xC0) == 0x80)
        tail++; // do not begin inside a character
    return xasprintf("%s%s%s: %s%s%s", failure->kind, *failure->side ? " of " : "", failure->side,
                     failure->message, *tail ? "\n" : "", tail);
}

// A list of the commit's options that permits those of the side speaks against a machine that does
// not find them: such a machine is odd, and the test goes on with others.
static bool failure_weigh(Turn *turn, const Failure *failure, int64_t test, Error *err) {
    if (strcmp(failure->kind, "option") == 0 && options_permit(turn, test, failure->side))
        return true;
    char *reason scope(free_ptr) = failure_reason(failure);
    switch (failure_decision(turn, failure, test)) {
    case FAILURE_ENDS:
        return ledger_test_finish(turn, test, 0, "failed", "failed", reason, err);
    case FAILURE_PAUSES: {
        char *why scope(free_ptr) =
            xasprintf("Paused: a machine cannot play it, and no owner that is vouched for is "
                      "here to confirm that. It said:\n%s",
                      reason);
        return test_suspend(turn, test, why, err);
    }
    default:
        return true;
    }
}

bool ledger_fail(Turn *turn, const Failure *failure, Error *err) {
    TaskRow row;
    if (!task_load(turn, failure->task, failure->worker, &row, err) ||
        !failure_check(failure, &row, err))
        return false;
    if (!task_is_open(&row))
        return true; // the task has ended already: the report or its repeat changes nothing
    task_note_started(&row, failure->started_pairs);
    if (!failure_store(turn, &row, failure, err) || !task_end(turn, &row, TASK_FAILED, err) ||
        !sql_ledger_worker_seen(turn->db, err, .worker = failure->worker, .now = turn->now))
        return false;
    ledger_event(turn, "crash", 0, failure->worker, row.test.id, "task %lld: %s%s%s: %s",
                 (long long)row.id, failure->kind, *failure->side ? " of " : "", failure->side,
                 failure->message);
    return row.test.state != TEST_ACTIVE || !is_of_the_test(failure->kind) ||
           failure_weigh(turn, failure, row.test.id, err);
}

// What machines report of sides that they cannot play, and counts of commits that declared none.
// One owner's machine may be broken, so both ask for another owner where one is at hand.
#include <string.h>

#include "ledger_task.h"

enum { REASON_LOG_MAX = 1500 };

// The owner of a machine: a user, or the address that a machine without one came from.
static char *owner_of(const Ledger *ledger, int64_t worker) {
    char *owner = db_text(ledger->db, SQL_LEDGER_OWNER, "i", worker);
    return owner ? owner : xstrdup("");
}

static bool another_owner_active(const Ledger *ledger, int64_t worker, int64_t threads) {
    char *owner scope(free_ptr) = owner_of(ledger, worker);
    return db_int(ledger->db, SQL_LEDGER_OTHERS_ACTIVE, 0, "sdi", owner, ledger->now - ACTIVE_S,
                  threads) != 0;
}

// ---- failures
// --------------------------------------------------------------------------------------

// Two owners, or the only one there is; and never against more owners whose machines play it.
static bool is_confirmed(const Ledger *ledger, const Failure *failure, int64_t test) {
    int64_t failing =
        db_int(ledger->db, SQL_LEDGER_FAILING_OWNERS, 0, "iss", test, failure->kind, failure->side);
    int64_t playing = db_int(ledger->db, SQL_LEDGER_PLAYING_OWNERS, 0, "i", test);
    if (failing <= playing)
        return false;
    return failing > 1 || !another_owner_active(ledger, failure->worker, 1);
}

static bool is_of_the_test(const char *kind) {
    return strcmp(kind, "build") == 0 || strcmp(kind, "bench") == 0 || strcmp(kind, "engine") == 0;
}

static bool failure_check(const Failure *failure, Error *err) {
    if (!is_of_the_test(failure->kind) && strcmp(failure->kind, "sandbox") != 0 &&
        strcmp(failure->kind, "machine") != 0)
        return error_field(err, 422, "bad_request", "kind",
                           "kind is build, bench, engine, sandbox or machine");
    if (*failure->side && strcmp(failure->side, "new") != 0 && strcmp(failure->side, "base") != 0)
        return error_field(err, 422, "bad_request", "side", "side is new, base or empty");
    if (!*failure->message || strlen(failure->message) > 1000)
        return error_field(err, 422, "bad_request", "message", "message is 1 to 1000 bytes");
    if (strlen(failure->log) > 65536)
        return error_field(err, 422, "bad_request", "log", "log is at most 65536 bytes");
    if (failure->bench < 0)
        return error_field(err, 422, "bad_request", "bench", "bench is a count of nodes");
    return true;
}

// Ends the test with the failure's own words: the message and the end of the log.
static bool test_fail(const Ledger *ledger, const Failure *failure, int64_t test, Error *err) {
    size_t size = strlen(failure->log);
    const char *tail = failure->log + (size > REASON_LOG_MAX ? size - REASON_LOG_MAX : 0);
    while (tail > failure->log && (*tail & 0xC0) == 0x80)
        tail++; // not into the middle of a character
    char *reason scope(free_ptr) =
        xasprintf("%s%s%s: %s%s%s", failure->kind, *failure->side ? " of " : "", failure->side,
                  failure->message, *tail ? "\n" : "", tail);
    return ledger_test_finish(ledger, test, 0, "failed", "failed", reason, err);
}

bool ledger_fail(const Ledger *ledger, const Failure *failure, Error *err) {
    TaskRow row;
    if (!failure_check(failure, err) ||
        !task_load(ledger, failure->task, failure->worker, &row, err))
        return false;
    if (!task_is_open(&row))
        return true; // ended already: nothing to learn from it, and a repeat changes nothing
    task_note_begun(&row, failure->begun);
    if (!db_run(ledger->db, err, SQL_LEDGER_FAILURE_ADD, "iiissssid", row.test.id, row.id,
                failure->worker, failure->kind, failure->side, failure->message, failure->log,
                failure->bench, ledger->now) ||
        !task_end(ledger, &row, "failed", err) ||
        !db_run(ledger->db, err, SQL_LEDGER_WORKER_SEEN, "id", failure->worker, ledger->now))
        return false;
    ledger_event(ledger, "crash", 0, failure->worker, row.test.id, "task %lld: %s%s%s: %s",
                 (long long)row.id, failure->kind, *failure->side ? " of " : "", failure->side,
                 failure->message);
    if (!is_of_the_test(failure->kind) || !is_confirmed(ledger, failure, row.test.id))
        return true;
    return test_fail(ledger, failure, row.test.id, err);
}

// ---- benches
// ---------------------------------------------------------------------------------------

typedef struct Side {
    int64_t engine, bench, threads;
    char sha[48];
} Side;

static bool side_load(const Ledger *ledger, int64_t test, const char *name, Side *side,
                      Error *err) {
    if (strcmp(name, "new") != 0 && strcmp(name, "base") != 0)
        return error_field(err, 422, "bad_request", "side", "side is new or base");
    Query q = query(ledger->db, SQL_LEDGER_SIDE, "is", test, name);
    if (!query_step(&q))
        return error_set(err, 404, "no_such_test", "there is no test %lld", (long long)test);
    *side = (Side){query_int(&q, 0), query_int(&q, 2), query_int(&q, 3), ""};
    snprintf(side->sha, sizeof side->sha, "%s", query_text(&q, 1));
    query_end(&q);
    return true;
}

// Owners of machines that measured this count, and owners who have measured others only. An owner
// whose machines disagree with each other is torn.
typedef struct Counts {
    int64_t agreeing, others, other_nodes, torn;
} Counts;

static Counts bench_counts(const Ledger *ledger, const Side *side, int64_t nodes) {
    Counts counts = {0};
    Query q = query(ledger->db, SQL_LEDGER_BENCH_OWNERS, "isi", side->engine, side->sha, nodes);
    if (query_step(&q)) {
        counts = (Counts){query_int(&q, 0), query_int(&q, 1), query_int(&q, 2), query_int(&q, 3)};
        query_end(&q);
    }
    return counts;
}

static bool bench_contradicted(const Ledger *ledger, TaskRow *row, const Side *side, int64_t nodes,
                               int64_t other_nodes, Error *err) {
    char reason[200];
    snprintf(reason, sizeof reason,
             "bench of %.10s is %lld on one machine and %lld on another: it must be the same "
             "everywhere",
             side->sha, (long long)nodes, (long long)other_nodes);
    snprintf(row->test.state, sizeof row->test.state, "finished");
    return ledger_test_finish(ledger, row->test.id, 0, "failed", "failed", reason, err);
}

// Settles the count, or ends the test where owners differ, or the machines of the only one there
// is. *established stays 0 while neither.
static bool bench_settle(const Ledger *ledger, TaskRow *row, const Side *side, int64_t nodes,
                         int64_t *established, Error *err) {
    Counts counts = bench_counts(ledger, side, nodes);
    if (counts.others > 0)
        return bench_contradicted(ledger, row, side, nodes, counts.other_nodes, err);
    if (counts.agreeing < 2) {
        if (another_owner_active(ledger, row->worker, side->threads))
            return true;
        if (counts.torn > 0)
            return bench_contradicted(ledger, row, side, nodes, counts.other_nodes, err);
    }
    *established = nodes;
    return db_run(ledger->db, err, SQL_LEDGER_BENCH_ESTABLISH, "isi", side->engine, side->sha,
                  nodes);
}

bool ledger_bench(const Ledger *ledger, int64_t task, int64_t worker, const char *side_name,
                  int64_t nodes, int64_t *established, TaskReply *reply, Error *err) {
    TaskRow row;
    Side side = {0};
    if (!task_load(ledger, task, worker, &row, err) ||
        !side_load(ledger, row.test.id, side_name, &side, err))
        return false;
    if (nodes < 1)
        return error_field(err, 422, "bad_request", "nodes", "nodes is above 0");
    *established = side.bench;
    if (side.bench && side.bench != nodes)
        return error_field(err, 409, "bench_differs", "nodes",
                           "bench of %s is known to be %lld, not %lld", side_name,
                           (long long)side.bench, (long long)nodes);
    if (!side.bench && strcmp(row.test.state, "finished") != 0) {
        if (!db_run(ledger->db, err, SQL_LEDGER_BENCH_ADD, "isiid", side.engine, side.sha, worker,
                    nodes, ledger->now) ||
            !bench_settle(ledger, &row, &side, nodes, established, err))
            return false;
    }
    *reply = task_reply(ledger, &row);
    return true;
}

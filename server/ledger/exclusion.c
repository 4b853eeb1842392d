// Exclusions: batches are removed from a test's results or put back, and the test is counted again
// from its first batch (recount.h). See ledger.h.
#include <math.h>
#include <string.h>

#include "server/ledger/recount.h"
#include "server/ledger/result.h"
#include "sql/ledger.h"

// ---- what is excluded ---------------------------------------------------------------------------

static bool worker_check(Turn *turn, const Exclusion *x, Error *err) {
    return sql_ledger_worker_there(turn->db, x->worker) ||
           error_field(err, 404, "no_such_machine", "worker", "there is no machine %lld",
                       (long long)x->worker);
}

static bool task_check(Turn *turn, const Exclusion *x, Error *err) {
    return sql_ledger_task_of_test(turn->db, .task = x->task, .test = x->test) ||
           error_field(err, 404, "no_such_task", "task", "test %lld has no task %lld",
                       (long long)x->test, (long long)x->task);
}

// It ends in the past, so that it covers no batch that is still to come.
static bool window_check(Turn *turn, const Exclusion *x, Error *err) {
    return (x->since < x->until && x->until <= turn->now) ||
           error_field(err, 422, "bad_request", "to",
                       "the time to must be later than the time from, and not in the future");
}

static const struct {
    const char *name;
    bool (*check)(Turn *turn, const Exclusion *exclusion, Error *err);
} kinds[] = {{"task", task_check},
             {"machine", worker_check},
             {"owner", worker_check},
             {"window", window_check}};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

// -1: there is no such kind.
static int kind_of(const char *name) {
    int i = KIND_COUNT - 1;
    while (i >= 0 && (!name || strcmp(kinds[i].name, name) != 0))
        i--;
    return i;
}

static bool exclusion_check(Turn *turn, const Exclusion *x, Error *err) {
    int kind = kind_of(x->kind);
    if (kind < 0)
        return error_field(err, 422, "bad_request", "kind",
                           "kind is task, machine, owner or window");
    if (strcmp(x->which, "flagged") != 0 && strcmp(x->which, "all") != 0)
        return error_field(err, 422, "bad_request", "which", "which is flagged or all");
    return kinds[kind].check(turn, x, err);
}

// The owner for whom the machine played the test last; NULL: another kind, or it played nothing.
static char *owner_of(Turn *turn, const Exclusion *x) {
    return strcmp(x->kind, "owner") != 0
               ? NULL
               : sql_ledger_owner_in_test(turn->db, .test = x->test, .worker = x->worker);
}

// Only what belongs to its kind.
static Exclusion essence(const Exclusion *x) {
    Exclusion out = *x;
    bool window = strcmp(x->kind, "window") == 0, task = strcmp(x->kind, "task") == 0;
    if (!task)
        out.task = 0;
    if (window || task)
        out.worker = 0;
    if (!window)
        out.since = out.until = NAN;
    return out;
}

// ---- exclusions ---------------------------------------------------------------------------------

static void recount_drop(Recount **recount) {
    ledger_recount_free(*recount);
}

// New; NULL: the test is not there or cannot be read.
static Recount *count_with(Turn *turn, int64_t test, const RecountChange *change, Error *err) {
    Recount *recount scope(recount_drop) = xcalloc(1, sizeof *recount);
    if (!recount_begin(turn, test, recount, err))
        return NULL;
    recount_go_on(turn, test, change, -1, recount);
    Recount *done = recount;
    recount = NULL;
    return done;
}

// Counts what is missing: all of it if nothing was prepared (`*recount` NULL, then new).
static bool catch_up(Turn *turn, int64_t test, const RecountChange *change, Recount **recount,
                     Error *err) {
    if (!*recount)
        return (*recount = count_with(turn, test, change, err)) != NULL;
    if (!recount_take_over(turn, test, *recount, err))
        return false;
    recount_go_on(turn, test, change, -1, *recount);
    return true;
}

static bool settle(Turn *turn, int64_t test, const Recount *recount, Error *err) {
    const TestCount *count = &recount->count;
    TaskRow row = {.test = {.id = test, .state = count->state}};
    if (!recount_store(turn, test, recount, err))
        return false;
    publish_counts(turn, test, count);
    return !test_state_is_open(count->state) || test_judge(turn, &row, count, err);
}

Recount *ledger_exclude_prepare(Turn *reader, const Exclusion *exclusion, Error *err) {
    if (!exclusion_check(reader, exclusion, err))
        return NULL;
    char *owner scope(free_ptr) = owner_of(reader, exclusion);
    Exclusion x = essence(exclusion);
    return count_with(reader, x.test, &(RecountChange){.with = &x, .owner = owner}, err);
}

static bool would_wait(Turn *turn, const Exclusion *x, const char *owner) {
    return sql_ledger_would_wait(turn->db, .test = x->test, .kind = x->kind, .which = x->which,
                                 .task = x->task, .worker = x->worker, .owner = owner,
                                 .since = x->since, .until = x->until);
}

static bool exclude(Turn *turn, const Exclusion *x, Recount **recount, Error *err) {
    char *owner scope(free_ptr) = owner_of(turn, x);
    if (!catch_up(turn, x->test, &(RecountChange){.with = x, .owner = owner}, recount, err))
        return false;
    if (!(*recount)->changed.batches && !would_wait(turn, x, owner))
        return error_field(err, 409, "nothing_to_exclude", "which",
                           "no such batch counts in test %lld", (long long)x->test);
    return sql_ledger_exclusion_add(turn->db, err, .test = x->test, .kind = x->kind,
                                    .task = x->task, .worker = x->worker, .owner = owner,
                                    .since = x->since, .until = x->until, .which = x->which,
                                    .reason = x->reason, .user = x->user, .now = turn->now) &&
           settle(turn, x->test, *recount, err);
}

bool ledger_exclude(Turn *turn, const Exclusion *exclusion, Recount *prepared, Excluded *changed,
                    Error *err) {
    Recount *own scope(recount_drop) = NULL, **recount = prepared ? &prepared : &own;
    if (!exclusion_check(turn, exclusion, err))
        return false;
    Exclusion x = essence(exclusion);
    SqlLedgerExclusion row scope(sql_row_free) = {0};
    if (!exclude(turn, &x, recount, err))
        return false;
    sql_ledger_exclusion(turn->db, &row, .test = x.test, .exclusion = 0);
    *changed = (*recount)->changed;
    ledger_event(turn, "excluded", x.user, x.worker, x.test,
                 "%s batches %s are excluded: %lld pairs%s%s",
                 strcmp(x.which, "all") == 0 ? "all" : "flagged", row.what,
                 (long long)changed->pairs, *x.reason ? ": " : "", x.reason);
    return true;
}

static bool exclusion_load(Turn *turn, int64_t test, int64_t exclusion, SqlLedgerExclusion *row,
                           Error *err) {
    char *state scope(free_ptr) = sql_ledger_test_state(turn->db, test);
    if (!state)
        return error_set(err, 404, "no_such_test", "there is no test %lld", (long long)test);
    return (exclusion > 0 &&
            sql_ledger_exclusion(turn->db, row, .exclusion = exclusion, .test = test)) ||
           error_field(err, 409, "not_excluded", "exclusion",
                       "test %lld has no exclusion %lld, or it was undone", (long long)test,
                       (long long)exclusion);
}

Recount *ledger_include_prepare(Turn *reader, int64_t test, int64_t exclusion, Error *err) {
    SqlLedgerExclusion row scope(sql_row_free) = {0};
    return exclusion_load(reader, test, exclusion, &row, err)
               ? count_with(reader, test, &(RecountChange){.without = exclusion}, err)
               : NULL;
}

bool ledger_include(Turn *turn, const Inclusion *x, Recount *prepared, Excluded *changed,
                    Error *err) {
    Recount *own scope(recount_drop) = NULL, **recount = prepared ? &prepared : &own;
    SqlLedgerExclusion row scope(sql_row_free) = {0};
    if (!exclusion_load(turn, x->test, x->exclusion, &row, err) ||
        !catch_up(turn, x->test, &(RecountChange){.without = x->exclusion}, recount, err) ||
        !sql_ledger_exclusion_undo(turn->db, err, .exclusion = x->exclusion, .user = x->user,
                                   .now = turn->now) ||
        !settle(turn, x->test, *recount, err))
        return false;
    *changed = (*recount)->changed;
    ledger_event(turn, "excluded", x->user, row.worker_id, x->test,
                 "the exclusion of batches %s was undone: %lld pairs count again%s%s", row.what,
                 (long long)changed->pairs, *x->reason ? ": " : "", x->reason);
    return true;
}

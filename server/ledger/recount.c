// See recount.h.
#include "server/ledger/recount.h"

#include <stdlib.h>

#include "server/common/log.h"
#include "server/ledger/history.h"
#include "server/ledger/owner_totals.h"
#include "server/ledger/result.h"
#include "sql/ledger.h"

void recount_batch(Count *count, json_t *totals, const LoggedBatch *batch) {
    json_auto_t *told = json_loads(batch->told, 0, NULL),
                *result = json_loads(batch->result, 0, NULL);
    WorkloadBatch counted = {.told = told,
                             .result = result,
                             .owner = batch->owner,
                             .level = (OwnerLevel)batch->level,
                             .sign = 1,
                             .units = batch->units};
    count_add(count, &counted);
    owner_totals_add(totals, count, &counted);
}

bool recount_begin(Turn *turn, int64_t test, Recount *recount, Error *err) {
    SqlLedgerExclusionsState seen = {0};
    sql_ledger_exclusions_state(turn->db, &seen, test);
    *recount = (Recount){
        .totals = json_object(), .history = json_array(), .made = seen.made, .undone = seen.undone};
    if (!test_count_begin(turn, test, &recount->count, err))
        return false;
    count_restart(&recount->count.count);
    recount->count.positions = 0;
    return true;
}

void recount_release(Recount *recount) {
    test_count_release(&recount->count);
    json_decref(recount->totals);
    json_decref(recount->history);
}

void ledger_recount_free(void *recount) {
    if (recount)
        recount_release(recount);
    free(recount);
}

// `step`: of the history, as far as it is known by now.
static void note_history(Recount *recount, int64_t step) {
    const Count *c = &recount->count.count;
    if (recount->count.positions % step != 0)
        return;
    char *state scope(free_ptr) = count_state_text(c);
    json_array_append_new(
        recount->history,
        json_pack("[I, I, s]", (json_int_t)recount->count.positions, (json_int_t)c->units, state));
}

void recount_go_on(Turn *turn, int64_t test, const RecountChange *change, int64_t most,
                   Recount *recount) {
    static const Exclusion none = {.kind = "", .which = ""};
    const Exclusion *x = change->with ? change->with : &none;
    int64_t step = history_step(sql_ledger_positions(turn->db, 0, test));
    SqlLedgerBatchesInTimeRows rows scope(sql_rows_end) = sql_ledger_batches_in_time(
        turn->db, .test = test, .after = recount->count.positions, .kind = x->kind,
        .which = x->which, .task = x->task, .worker = x->worker, .owner = change->owner,
        .since = x->since, .until = x->until, .without = change->without, .most = most);
    while (sql_ledger_batches_in_time_next(&rows)) {
        const SqlLedgerBatchesInTime *b = &rows.row;
        recount->count.positions = b->position;
        recount->changed.batches += b->excluded != b->was_excluded;
        recount->changed.pairs += b->excluded != b->was_excluded ? b->units : 0;
        if (!b->excluded)
            recount_batch(&recount->count.count, recount->totals,
                          &(LoggedBatch){b->told, b->result, b->owner, b->level, b->units});
        note_history(recount, step);
    }
}

bool recount_take_over(Turn *turn, int64_t test, Recount *recount, Error *err) {
    scope(test_count_release) TestCount now = {0};
    SqlLedgerExclusionsState seen = {0};
    sql_ledger_exclusions_state(turn->db, &seen, test);
    if (!test_count_load(turn, test, 0, &now, err))
        return false;
    if (seen.made != recount->made || seen.undone != recount->undone ||
        !json_equal(now.count.parameters, recount->count.count.parameters))
        return error_set(err, 409, "changed",
                         "the exclusions or the settings of test %lld changed while it was "
                         "counted again: look at them and try again",
                         (long long)test);
    recount->count.state = now.state;
    recount->count.count.test.units_max = now.count.test.units_max;
    return true;
}

bool recount_store(Turn *turn, int64_t test, const Recount *recount, Error *err) {
    int64_t step = history_step(recount->count.positions);
    size_t i;
    json_t *row;
    if (!history_drop(turn, test, err))
        return false;
    json_array_foreach (recount->history, i, row) {
        json_int_t position, units;
        const char *state;
        json_unpack(row, "[I, I, s]", &position, &units, &state);
        if (position % step == 0 &&
            !sql_ledger_history_add(turn->db, err, .test = test, .position = position,
                                    .units = units, .state = state))
            return false;
    }
    return owner_totals_store(turn, test, recount->totals, err) &&
           test_count_store(turn, test, &recount->count, err);
}

// Its judge may be another one, too.
static bool recount_outdated(Turn *turn, int64_t test, Error *err) {
    scope(recount_release) Recount recount = {0};
    if (!recount_begin(turn, test, &recount, err))
        return false;
    recount_go_on(turn, test, &(RecountChange){0}, -1, &recount);
    if (!recount_store(turn, test, &recount, err))
        return false;
    TaskRow row = {.test = {.id = test, .state = recount.count.state}};
    log_info("test %lld was counted again by the present version of its workload, %s",
             (long long)test, recount.count.count.workload->name);
    return !test_state_is_open(recount.count.state) || test_judge(turn, &row, &recount.count, err);
}

// One after the other, because counting a test again changes the rows that a query would read.
bool ledger_recount_outdated(Turn *turn, Error *err) {
    for (int i = 0; i < workload_count(); i++) {
        const Workload *workload = workload_at(i);
        int64_t test = 0;
        while (
            (test = sql_ledger_test_outdated(turn->db, 0, .after = test, .workload = workload->name,
                                             .version = workload->version)) > 0)
            if (!recount_outdated(turn, test, err))
                return false;
    }
    return !db_failed(turn->db) ||
           error_set(err, 503, "unavailable", "the database cannot be used at the moment");
}

// See recount.h.
#include "server/ledger/recount.h"

#include "server/common/log.h"
#include "server/ledger/history.h"
#include "server/ledger/owner_totals.h"
#include "server/ledger/result.h"
#include "sql/ledger.h"

bool test_recount(Turn *turn, int64_t test, TestCount *count, Error *err) {
    Count *c = &count->count;
    count_restart(c);
    json_auto_t *totals = json_object();
    if (!history_drop(turn, test, err))
        return false;
    SqlLedgerBatchesInTimeRows rows scope(sql_rows_end) =
        sql_ledger_batches_in_time(turn->db, test);
    while (sql_ledger_batches_in_time_next(&rows)) {
        const SqlLedgerBatchesInTime *b = &rows.row;
        json_auto_t *told = json_loads(b->told, 0, NULL), *result = json_loads(b->result, 0, NULL);
        WorkloadBatch batch = {.told = told,
                               .result = result,
                               .owner = b->owner,
                               .level = (OwnerLevel)b->level,
                               .sign = 1,
                               .units = b->units};
        if (!b->excluded) {
            count_add(c, &batch);
            owner_totals_add(totals, c, &batch);
        }
        count->positions = b->position;
        if (!history_add(turn, test, count, err))
            return false;
    }
    return owner_totals_store(turn, test, totals, err) && test_count_store(turn, test, count, err);
}

// Its judge may be another one, too.
static bool recount_outdated(Turn *turn, int64_t test, Error *err) {
    scope(test_count_release) TestCount count = {0};
    if (!test_count_begin(turn, test, &count, err) || !test_recount(turn, test, &count, err))
        return false;
    TaskRow row = {.test = {.id = test, .state = count.state}};
    log_info("test %lld was counted again by the present version of its workload, %s",
             (long long)test, count.count.workload->name);
    return !test_state_is_open(count.state) || test_judge(turn, &row, &count, err);
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

// See places.h.
#include "server/ledger/places.h"

#include "server/common/log.h"
#include "server/ledger/history.h"
#include "server/ledger/owner_totals.h"
#include "server/ledger/rerun.h"
#include "server/ledger/result.h"
#include "sql/ledger.h"

// Few, so that no request waits long for those of one test.
enum { AT_ONCE = 200 };

// The batch takes the next position of its test. If it is not excluded, the workload accepts it.
static bool count_batch(Turn *turn, int64_t test, const SqlLedgerNextBatch *next,
                        const json_t *result, TestCount *count, Error *err) {
    json_auto_t *told = json_loads(next->told, 0, NULL);
    WorkloadBatch batch = {.told = told,
                           .result = result,
                           .owner = next->owner,
                           .level = (OwnerLevel)next->level,
                           .sign = 1,
                           .units = next->units};
    count->positions++;
    if (!next->excluded)
        count_add(&count->count, &batch);
    return sql_ledger_batch_counts(turn->db, err, .batch = next->id,
                                   .position = count->positions) &&
           (next->excluded ? sql_ledger_test_positions(turn->db, err, .test = test,
                                                       .positions = count->positions)
                           : owner_totals_count(turn, test, &count->count, &batch, err) &&
                                 test_count_store(turn, test, count, err)) &&
           history_add(turn, test, count, err);
}

// What follows when a batch counts, apart from the verdict.
static bool follow(Turn *turn, TaskRow *row, const SqlLedgerNextBatch *next, const json_t *result,
                   const TestCount *count, Error *err) {
    publish_counts(turn, row->test.id, count);
    return (row->level == LEVEL_RECORDED || trust_earn(turn, row->owner, err)) &&
           (next->seq > 0 || bench_confirm(turn, row, err)) &&
           rerun_order(turn, row, next->seq, err) && ponders_weigh(turn, row, result, err);
}

static bool judge(Turn *turn, TaskRow *row, TestCount *count, Error *err) {
    bool good = !test_state_is_open(row->test.state) || test_judge(turn, row, count, err);
    count->state = row->test.state;
    return good;
}

static bool settle_one(Turn *turn, const SqlLedgerNextBatch *next, TestCount *count, Error *err) {
    TaskRow row;
    json_auto_t *result = json_loads(next->result, 0, NULL);
    return task_load(turn, next->task_id, 0, &row, err) &&
           count_batch(turn, row.test.id, next, result, count, err) &&
           (next->excluded || follow(turn, &row, next, result, count, err)) &&
           judge(turn, &row, count, err);
}

// Counts the next batch, if there is one; *counted says so.
static bool settle_next(Turn *turn, int64_t test, TestCount *count, bool *counted, Error *err) {
    SqlLedgerNextBatch next scope(sql_row_free) = {0};
    *counted = test_state_is_open(count->state) && sql_ledger_next_batch(turn->db, &next, test);
    return !*counted || settle_one(turn, &next, count, err);
}

bool places_settle(Turn *turn, int64_t test, Error *err) {
    scope(test_count_release) TestCount count = {0};
    if (!test_count_load(turn, test, 0, &count, err))
        return false;
    bool more = true;
    int counted = 0;
    for (; more && counted < AT_ONCE; counted += more)
        if (!settle_next(turn, test, &count, &more, err))
            return false;
    // A batch that does not count may have used the last openings of the book.
    TaskRow row = {.test = {.id = test, .state = count.state}};
    return (counted || judge(turn, &row, &count, err)) &&
           (!test_state_is_open(count.state) ||
            sql_ledger_test_settled(turn->db, err, .test = test, .more = more));
}

// The ids are collected first, because counting changes the index that the query reads.
void ledger_count_waiting(Turn *turn) {
    enum { TESTS_AT_ONCE = 100 };
    int64_t ids[TESTS_AT_ONCE];
    int count = 0;
    SqlLedgerTestsUnsettledRows rows scope(sql_rows_end) =
        sql_ledger_tests_unsettled(turn->db, TESTS_AT_ONCE);
    while (sql_ledger_tests_unsettled_next(&rows))
        ids[count++] = rows.row.id;
    for (int i = 0; i < count; i++) {
        Error err;
        db_savepoint(turn->db);
        if (places_settle(turn, ids[i], &err)) {
            db_savepoint_keep(turn->db);
            continue;
        }
        log_error("batches of test %lld wait for no other one and cannot be counted: %s",
                  (long long)ids[i], err.message);
        db_savepoint_undo(turn->db);
    }
}

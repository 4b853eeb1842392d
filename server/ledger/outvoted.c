// See outvoted.h.
#include "server/ledger/outvoted.h"

#include <string.h>

#include "server/common/log.h"
#include "server/ledger/recount.h"
#include "server/ledger/result.h"
#include "sql/ledger.h"

// Batches that are counted at a time.
enum { AT_ONCE = 500 };

static Exclusion exclusion_of(int64_t test, int64_t worker) {
    return (Exclusion){.test = test,
                       .kind = "machine",
                       .worker = worker,
                       .which = "all",
                       .reason = "its bench was wrong"};
}

bool outvoted_exclude(Turn *turn, int64_t test, int64_t worker, Error *err) {
    Exclusion exclusion = exclusion_of(test, worker);
    Excluded changed;
    if (!sql_ledger_counts(turn->db, .test = test, .worker = worker))
        return true;
    return sql_ledger_positions(turn->db, 0, test) > AT_ONCE
               ? sql_ledger_outvoted_add(turn->db, err, .test = test, .worker = worker)
               : ledger_exclude(turn, &exclusion, NULL, &changed, err);
}

// A maintainer may have excluded the machine meanwhile.
static bool finish(Turn *turn, const SqlLedgerOutvoted *row, Recount *counted, Error *err) {
    Exclusion exclusion = exclusion_of(row->test_id, row->worker_id);
    Excluded changed;
    if (!sql_ledger_outvoted_drop(turn->db, err, row->id))
        return false;
    return sql_ledger_counts(turn->db, .test = row->test_id, .worker = row->worker_id)
               ? ledger_exclude(turn, &exclusion, counted, &changed, err)
               : test_judge_again(turn, row->test_id, err);
}

// *done: the machine is excluded, and nothing is kept for it.
static bool go_on(Turn *turn, const SqlLedgerOutvoted *row, Recount **kept, bool *done,
                  Error *err) {
    Exclusion exclusion = exclusion_of(row->test_id, row->worker_id);
    if (!*kept) {
        *kept = xcalloc(1, sizeof **kept);
        if (!recount_begin(turn, row->test_id, *kept, err))
            return false;
    }
    if (!recount_take_over(turn, row->test_id, *kept, err))
        return false;
    recount_go_on(turn, row->test_id, &(RecountChange){.with = &exclusion}, AT_ONCE, *kept);
    *done = (*kept)->count.positions >= sql_ledger_positions(turn->db, 0, row->test_id);
    return !*done || finish(turn, row, *kept, err);
}

// What was counted is void after an error, such as exclusions that changed. It begins anew.
void ledger_exclude_outvoted(Turn *turn, Recount **kept) {
    SqlLedgerOutvoted row = {0};
    Error err;
    bool done = false;
    if (!sql_ledger_outvoted(turn->db, &row))
        return;
    db_savepoint(turn->db);
    bool good = go_on(turn, &row, kept, &done, &err);
    if (good)
        db_savepoint_keep(turn->db);
    else
        db_savepoint_undo(turn->db);
    if (!good && strcmp(err.code, "changed") != 0)
        log_error("machine %lld cannot be excluded from test %lld: %s", (long long)row.worker_id,
                  (long long)row.test_id, err.message);
    if (good && !done)
        return;
    ledger_recount_free(*kept);
    *kept = NULL;
}

// Stores the results of replays. See ledger.h and replayer.h.
#include <string.h>

#include "server/common/log.h"
#include "server/ledger/replayer.h"
#include "server/ledger/task.h"
#include "server/ledger/trust.h"
#include "sql/core.h"
#include "sql/ledger.h"

static bool exclude_machine(Turn *turn, const SqlLedgerBatchPlace *place, const char *fault,
                            Error *err) {
    char reason[360];
    Exclusion exclusion = {place->test_id, place->worker_id, 0, "all", reason};
    Excluded changed;
    snprintf(reason, sizeof reason, "replay mismatch: %s", fault);
    return !sql_ledger_excludable(turn->db, .test = place->test_id, .worker = place->worker_id,
                                  .which = "all") ||
           ledger_exclude(turn, &exclusion, &changed, err);
}

static bool add_replay(Turn *turn, int64_t batch, int64_t games, const char *fault,
                       const char *left_out, bool *added, Error *err) {
    if (!sql_ledger_replay_add(turn->db, err, .batch = batch, .fault = fault, .games = games,
                               .now = turn->now, .left_out = left_out))
        return false;
    *added = db_changes(turn->db) > 0;
    return sql_replay_ended(turn->db, err, batch);
}

bool ledger_replayed(Turn *turn, int64_t batch, int64_t games, const char *fault,
                     const char *left_out, Error *err) {
    SqlLedgerBatchPlace place scope(sql_row_free) = {0};
    bool added;
    if (!sql_ledger_batch_place(turn->db, &place, batch))
        return error_set(err, 404, "not_found", "there is no batch %lld", (long long)batch);
    if (!add_replay(turn, batch, games, fault, left_out, &added, err))
        return false;
    if (added && *left_out)
        ledger_event(turn, "replay", 0, place.worker_id, place.test_id,
                     "batch %lld of task %lld is not replayed: %s", (long long)place.seq,
                     (long long)place.task_id, left_out);
    if (!added)
        return true;
    if (!*fault)
        return trust_earn(turn, place.owner, err);
    ledger_event(turn, "replay", 0, place.worker_id, place.test_id,
                 "batch %lld of task %lld has impossible games: %s", (long long)place.seq,
                 (long long)place.task_id, fault);
    return trust_lose(turn, place.owner, err) && exclude_machine(turn, &place, fault, err);
}

void ledger_take_replayed(Turn *turn, struct Replayer *replayer) {
    enum { AT_ONCE = 16 };
    Replayed found[AT_ONCE];
    int count = replayer_take(replayer, found, AT_ONCE);
    for (int i = 0; i < count; i++) {
        Error err;
        db_savepoint(turn->db);
        if (ledger_replayed(turn, found[i].batch, found[i].games, found[i].fault, found[i].left_out,
                            &err)) {
            db_savepoint_keep(turn->db);
            continue;
        }
        log_error("the replay of batch %lld cannot be stored: %s", (long long)found[i].batch,
                  err.message);
        db_savepoint_undo(turn->db);
    }
}

bool ledger_replays_resume(Db *db, double now, Error *err) {
    scope(turn_release) Turn turn = {.db = db, .now = now};
    for (int64_t batch; (batch = sql_replays_broken(db, 0)) != 0;)
        if (!ledger_replayed(&turn, batch, 0, "", "the server ended while it replayed it", err))
            return false;
    return true;
}

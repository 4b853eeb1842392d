// What playing games over again found. See ledger.h and replayer.h.
#include <string.h>

#include "common/log.h"
#include "ledger_task.h"
#include "replayer.h"

typedef struct Place {
    int64_t test, worker, seq, task;
} Place;

static bool find_place(const Ledger *ledger, int64_t batch, Place *place) {
    Query q = query(ledger->db, SQL_LEDGER_BATCH_PLACE, "i", batch);
    if (!query_step(&q))
        return false;
    *place = (Place){query_int(&q, 0), query_int(&q, 1), query_int(&q, 2), query_int(&q, 3)};
    query_end(&q);
    return true;
}

static bool exclude_machine(const Ledger *ledger, const Place *place, const char *fault,
                            Error *err) {
    char reason[360];
    Exclusion exclusion = {place->test, place->worker, 0, "all", reason};
    Excluded changed;
    snprintf(reason, sizeof reason, "replay mismatch: %s", fault);
    return !db_int(ledger->db, SQL_LEDGER_EXCLUDABLE, 0, "iis", place->test, place->worker,
                   "all") ||
           ledger_exclude(ledger, &exclusion, &changed, err);
}

bool ledger_replayed(const Ledger *ledger, int64_t batch, int64_t games, const char *fault,
                     Error *err) {
    Place place;
    if (!find_place(ledger, batch, &place))
        return error_set(err, 404, "not_found", "there is no batch %lld", (long long)batch);
    if (!db_run(ledger->db, err, SQL_LEDGER_REPLAY_ADD, "isid", batch, fault, games, ledger->now))
        return false;
    if (!db_changes(ledger->db) || !*fault)
        return true;
    ledger_event(ledger, "replay", 0, place.worker, place.test,
                 "batch %lld of task %lld is not what was played: %s", (long long)place.seq,
                 (long long)place.task, fault);
    return exclude_machine(ledger, &place, fault, err);
}

void ledger_take_replayed(const Ledger *ledger, struct Replayer *replayer) {
    enum { AT_ONCE = 16 };
    Replayed found[AT_ONCE];
    int count = replayer_take(replayer, found, AT_ONCE);
    for (int i = 0; i < count; i++) {
        Error err;
        db_savepoint(ledger->db);
        if (ledger_replayed(ledger, found[i].batch, found[i].games, found[i].fault, &err)) {
            db_savepoint_keep(ledger->db);
            continue;
        }
        log_error("batch %lld was replayed in vain: %s", (long long)found[i].batch, err.message);
        db_savepoint_undo(ledger->db);
    }
}

// See owner_totals.h.
#include "server/ledger/owner_totals.h"

#include <stdio.h>

#include "server/common/json_member.h"
#include "sql/ledger.h"

enum { KEY_MAX = 80 };

static void key_of(int64_t level, const char *owner, char key[KEY_MAX]) {
    snprintf(key, KEY_MAX, "%lld %s", (long long)level, owner);
}

static json_t *entry_of(json_t *totals, const char *key, int version) {
    json_t *entry = json_object_get(totals, key);
    if (!entry) {
        entry = json_pack("{s:i, s:{s:i}}", "units", 0, "state", "v", version);
        json_object_set_new(totals, key, entry);
    }
    return entry;
}

void owner_totals_add(json_t *totals, const Count *count, const WorkloadBatch *batch) {
    char key[KEY_MAX];
    key_of(batch->level, batch->owner, key);
    json_t *entry = entry_of(totals, key, count->workload->version);
    count->workload->accept(&count->test, batch, json_object_get(entry, "state"));
    json_object_set_new(entry, "units", json_integer(member_int(entry, "units") + batch->units));
}

bool owner_totals_count(Turn *turn, int64_t test, const Count *count, const WorkloadBatch *batch,
                        Error *err) {
    char *stored scope(free_ptr) = sql_ledger_owner_total(
        turn->db, .test = test, .owner = batch->owner, .level = batch->level);
    json_auto_t *state =
        stored ? json_loads(stored, 0, NULL) : json_pack("{s:i}", "v", count->workload->version);
    count->workload->accept(&count->test, batch, state);
    char *text scope(free_ptr) = count_text(state);
    return sql_ledger_owner_total_put(turn->db, err, .test = test, .owner = batch->owner,
                                      .level = batch->level, .units = batch->units, .state = text);
}

bool owner_totals_store(Turn *turn, int64_t test, const json_t *totals, Error *err) {
    const char *key;
    json_t *entry;
    if (!sql_ledger_owner_totals_drop(turn->db, err, test))
        return false;
    json_object_foreach ((json_t *)totals, key, entry) {
        char *text scope(free_ptr) = count_text(json_object_get(entry, "state"));
        if (!sql_ledger_owner_total_put(turn->db, err, .test = test, .owner = key + 2,
                                        .level = *key - '0', .units = member_int(entry, "units"),
                                        .state = text))
            return false;
    }
    return true;
}

json_t *owner_totals_load(Db *db, int64_t test) {
    json_t *totals = json_object();
    SqlLedgerOwnerTotalsRows rows scope(sql_rows_end) = sql_ledger_owner_totals(db, test);
    while (sql_ledger_owner_totals_next(&rows)) {
        char key[KEY_MAX];
        key_of(rows.row.level, rows.row.owner, key);
        json_object_set_new(totals, key,
                            json_pack("{s:I, s:o}", "units", (json_int_t)rows.row.units, "state",
                                      json_loads(rows.row.state, 0, NULL)));
    }
    return totals;
}

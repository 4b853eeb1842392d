// See trust.h.
#include "server/ledger/trust.h"

#include "sql/ledger.h"

// What gives an owner a record: so many counted batches, the first of them at least so old, and so
// long no batch whose games cannot have been played.
enum { RECORD_BATCHES = 16, RECORD_AGE_S = 86400, RECORD_CLEAN_S = 30 * 86400 };

Trust trust_of(bool has_counted, OwnerLevel level) {
    return level > LEVEL_UNPROVEN ? TRUST_PROVEN : has_counted ? TRUST_COUNTED : TRUST_NONE;
}

int trust_tasks_max(Trust trust) {
    static const int most[] = {[TRUST_NONE] = 1, [TRUST_COUNTED] = 2, [TRUST_PROVEN] = TASKS_MAX};
    return most[trust];
}

int trust_cores_max(Trust trust) {
    static const int most[] = {[TRUST_NONE] = 2, [TRUST_COUNTED] = 4, [TRUST_PROVEN] = 1 << 20};
    return most[trust];
}

bool trust_earn(Turn *turn, const char *owner, Error *err) {
    return sql_trust_record_judge(turn->db, err, .owner = owner, .now = turn->now,
                                  .batches = RECORD_BATCHES, .age_s = RECORD_AGE_S,
                                  .clean_s = RECORD_CLEAN_S);
}

bool trust_lose(Turn *turn, const char *owner, Error *err) {
    return sql_trust_record_drop(turn->db, err, owner);
}

// See tally.h.
#include "server/ledger/tally.h"
#include "server/ledger/kinds.h"

#include <math.h>

#include "server/ledger/sprt_state.h"
#include "sql/ledger.h"

void tally_add(Tally *tally, const TestRule *rule, const BatchCounts *batch) {
    for (const char *p = batch->outcomes; *p; p++)
        tally->ptnml[*p - '0']++;
    tally->wins += batch->wins;
    tally->losses += batch->losses;
    tally->draws += batch->draws;
    tally->crashes += batch->crashes;
    tally->time_losses += batch->time_losses;
    kinds[rule->kind]->update(&tally->sprt, rule, tally->ptnml);
}

int64_t tally_pairs(const Tally *tally) {
    const int64_t *n = tally->ptnml;
    return n[0] + n[1] + n[2] + n[3] + n[4];
}

bool tally_store(const Tally *tally, Db *db, int64_t test, Error *err) {
    const int64_t *n = tally->ptnml;
    char state[VERDICT_STATE_MAX];
    verdict_state_write(&tally->sprt, state);
    return sql_ledger_test_counted(
        db, err, .test = test, .ptnml0 = n[0], .ptnml1 = n[1], .ptnml2 = n[2], .ptnml3 = n[3],
        .ptnml4 = n[4], .wins = tally->wins, .losses = tally->losses, .draws = tally->draws,
        .crashes = tally->crashes, .time_losses = tally->time_losses, .llr = tally->sprt.llr,
        .sprt_state = state);
}

bool numbers_equal(double a, double b) {
    return isnan(a) == isnan(b) && !(a < b) && !(a > b);
}

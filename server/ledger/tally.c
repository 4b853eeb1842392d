// See tally.h.
#include "server/ledger/tally.h"
#include "server/ledger/kinds.h"

#include <string.h>

#include "server/ledger/sprt_state.h"

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

json_t *tally_row(const Tally *tally, int64_t test) {
    static const char *const names[] = {"ptnml0", "ptnml1", "ptnml2", "ptnml3", "ptnml4"};
    char state[VERDICT_STATE_MAX];
    verdict_state_write(&tally->sprt, state);
    json_t *row =
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:s}", "test", (json_int_t)test, "wins",
                  (json_int_t)tally->wins, "losses", (json_int_t)tally->losses, "draws",
                  (json_int_t)tally->draws, "crashes", (json_int_t)tally->crashes, "time_losses",
                  (json_int_t)tally->time_losses, "llr", tally->sprt.llr, "sprt_state", state);
    for (int i = 0; i < 5; i++)
        json_object_set_new(row, names[i], json_integer(tally->ptnml[i]));
    return row;
}

bool numbers_equal(double a, double b) {
    return !(a < b) && !(a > b);
}

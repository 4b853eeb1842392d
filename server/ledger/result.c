// See result.h.
#include "server/ledger/result.h"

#include <stdio.h>

#include "server/ledger/kinds.h"

void publish_counts(Turn *turn, const TaskRow *row) {
    const int64_t *n = row->test.tally.ptnml;
    turn_publish(
        turn, "test",
        json_pack("{s:I, s:s, s:f, s:I, s:[IIIII]}", "id", (json_int_t)row->test.id, "state",
                  test_state_name(row->test.state), "llr", row->test.tally.sprt.llr, "games",
                  (json_int_t)(2 * (n[0] + n[1] + n[2] + n[3] + n[4])), "ptnml", (json_int_t)n[0],
                  (json_int_t)n[1], (json_int_t)n[2], (json_int_t)n[3], (json_int_t)n[4]));
}

bool test_judge(Turn *turn, TaskRow *row, Error *err) {
    const Tally *tally = &row->test.tally;
    const int64_t *n = tally->ptnml;
    int64_t pairs = tally_pairs(tally);
    const char *result = kinds[row->test.rule.kind]->judge(&tally->sprt, &row->test.rule, pairs);
    char reason[160];
    if (!result)
        return true;
    snprintf(reason, sizeof reason,
             "LLR %.2f after %lld games, Ptnml(0-2): %lld, %lld, %lld, %lld, %lld", tally->sprt.llr,
             (long long)(2 * pairs), (long long)n[0], (long long)n[1], (long long)n[2],
             (long long)n[3], (long long)n[4]);
    if (!ledger_test_finish(turn, row->test.id, 0, result, "verdict", reason, err))
        return false;
    row->test.state = TEST_FINISHED;
    row->state = TASK_STOPPED;
    return true;
}

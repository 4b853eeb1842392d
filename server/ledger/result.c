// See result.h.
#include "server/ledger/result.h"

#include <string.h>

#include "server/ledger/book_use.h"
#include "sql/ledger.h"

void publish_counts(Turn *turn, int64_t test, const TestCount *count) {
    const Count *c = &count->count;
    char summary[COUNT_SUMMARY_MAX];
    count_summary(c, summary);
    turn_publish(turn, "test",
                 json_pack("{s:I, s:s, s:I, s:s, s:o}", "id", (json_int_t)test, "state",
                           test_state_name(count->state), "units", (json_int_t)c->units, "summary",
                           summary, "points", c->workload->points(&c->test, c->state)));
}

bool test_judge(Turn *turn, TaskRow *row, const TestCount *count, Error *err) {
    const Count *c = &count->count;
    const char *result = count_judge(c, false);
    bool pairs = c->workload->unit == UNIT_PAIR;
    bool spent = !result && pairs && book_is_spent(turn->db, row->test.id);
    char summary[COUNT_SUMMARY_MAX], reason[COUNT_SUMMARY_MAX + 60];
    if ((!result && !spent) || sql_ledger_has_outvoted(turn->db, row->test.id))
        return true;
    if (spent)
        result = count_judge(c, true);
    const char *why = spent                              ? "the book is spent: "
                      : strcmp(result, "undecided") == 0 ? "its games were too few for a verdict: "
                                                         : "";
    count_summary(c, summary);
    snprintf(reason, sizeof reason, "%s%s%safter %lld %s", why, summary, *summary ? " " : "",
             (long long)(pairs ? 2 * c->units : c->units), pairs ? "games" : "units");
    if (!ledger_test_finish(turn, row->test.id, 0, result, "verdict", reason, err))
        return false;
    row->test.state = TEST_FINISHED;
    row->state = TASK_STOPPED;
    return true;
}

bool test_judge_again(Turn *turn, int64_t test, Error *err) {
    scope(test_count_release) TestCount count = {0};
    if (!test_count_load(turn, test, 0, &count, err))
        return false;
    TaskRow row = {.test = {.id = test, .state = count.state}};
    return !test_state_is_open(count.state) || test_judge(turn, &row, &count, err);
}

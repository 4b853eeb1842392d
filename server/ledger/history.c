// See history.h.
#include "server/ledger/history.h"

#include "sql/ledger.h"

int64_t history_step(int64_t positions) {
    int64_t step = 1;
    while (positions / step >= HISTORY_ROWS_MAX)
        step *= 2;
    return step;
}

bool history_add(Turn *turn, int64_t test, const TestCount *count, Error *err) {
    int64_t position = count->positions, step = history_step(position);
    if (step != history_step(position - 1) &&
        !sql_ledger_history_thin(turn->db, err, .test = test, .step = step))
        return false;
    if (position % step != 0)
        return true;
    char *state scope(free_ptr) = count_state_text(&count->count);
    return sql_ledger_history_add(turn->db, err, .test = test, .position = position,
                                  .units = count->count.units, .state = state);
}

bool history_drop(Turn *turn, int64_t test, Error *err) {
    return sql_ledger_history_drop(turn->db, err, test);
}

// The conditions under which the games of a batch were played, as far as the server can know them:
// the clock is the one that the task was dealt, scaled by the speed that its machine measured. See
// ledger.h.
#include <math.h>
#include <string.h>

#include "server/common/one_line.h"
#include "server/common/time_control.h"
#include "server/ledger/task.h"
#include "sql/ledger.h"

// Nodes per second of one slot. No engine that plays chess is outside of this.
static const double SPEED_LEAST = 1, SPEED_MOST = 1e11;
// Clocks of machines do not run equally fast.
static const double PACE_SLACK = 1.05;

static bool numbers_check(const Batch *batch, Error *err) {
    if (!(batch->busy >= 0 && batch->busy <= 1))
        return error_field(err, 422, "bad_request", "busy", "busy is 0 to 1");
    if (batch->load.delay > 1 || batch->load.steal > 1)
        return error_field(err, 422, "bad_request", "load", "delay and steal are 0 to 1");
    return one_line_check("tc", batch->tc, 0, TC_TEXT_MAX, err);
}

static bool is_scaled(const char *text) {
    TimeControl tc;
    Error ignored;
    return text && tc_parse(text, &tc, &ignored) && tc_is_scaled(&tc);
}

// A machine measures its speed once for each task. So it cannot choose a clock for each batch.
static bool speed_check(const Batch *batch, const SqlLedgerTaskClock *task, bool scaled,
                        Error *err) {
    ClockScale scale = {task->reference_speed, task->scale_min, task->scale_max};
    double factor, first = task->speed;
    if (!(batch->speed >= SPEED_LEAST && batch->speed <= SPEED_MOST))
        return error_field(err, 422, "bad_speed", "speed", "%g nodes/s is not the speed of a slot",
                           batch->speed);
    if (batch->seq > 0 && first > 0 && batch->speed != first)
        return error_field(err, 422, "bad_speed", "speed",
                           "the speed of a task is measured once: the first batch said %.0f "
                           "nodes/s, this one says %.0f",
                           first, batch->speed);
    return !scaled || clock_scale_factor(&scale, batch->speed, &factor) ||
           error_field(err, 422, "bad_speed", "speed",
                       "%.0f nodes/s is too slow: the test needs at least %.0f", batch->speed,
                       clock_scale_least(&scale));
}

static bool clock_check(const Batch *batch, const SqlLedgerTaskClock *task, Error *err) {
    ClockScale scale = {task->reference_speed, task->scale_min, task->scale_max};
    TimeControl tc;
    char text[TC_TEXT_MAX];
    if (!clock_scale_apply(&scale, task->new_tc, batch->speed, &tc, err))
        return false; // no such test is accepted
    if (strcmp(batch->tc, tc_text(&tc, text)) == 0)
        return true;
    return tc_is_scaled(&tc)
               ? error_field(err, 422, "bad_clock", "tc",
                             "this task is played at %s, which is %s for %.0f nodes/s, and not "
                             "at %s",
                             text, task->new_tc, batch->speed, batch->tc)
               : error_field(err, 422, "bad_clock", "tc",
                             "this task is played at %s, and not at %s", text, batch->tc);
}

// The sides of a game think in turns, and a slot plays one game at a time. So engines cannot have
// thought longer than the slots existed. It is the server's clock that tells how long that was:
// late batches have more time, not less. Quick games think less, and are never suspect.
static bool pace_check(const Turn *turn, const Batch *batch, const SqlLedgerTaskClock *task,
                       Error *err) {
    double thought_s = (double)(task->thought + batch->thought) / 1000;
    double wall_s = turn->now - task->created;
    return thought_s <= (double)task->slots * wall_s * PACE_SLACK ||
           error_field(err, 422, "bad_pace", "thought",
                       "the engines of this task thought for %.1f s, but %lld slots had only "
                       "%.1f s each since the claim",
                       thought_s, (long long)task->slots, wall_s);
}

bool conditions_check(Turn *turn, const Batch *batch, const TaskRow *row, Error *err) {
    SqlLedgerTaskClock task scope(sql_row_free) = {0};
    if (!numbers_check(batch, err))
        return false;
    if (!sql_ledger_task_clock(turn->db, &task, batch->task))
        return error_set(err, 404, "no_such_task", "there is no task %lld", (long long)batch->task);
    bool scaled = is_scaled(task.new_tc) || is_scaled(task.base_tc);
    return speed_check(batch, &task, scaled && row->test.plays_pairs, err) &&
           (!row->test.plays_pairs ||
            (clock_check(batch, &task, err) && pace_check(turn, batch, &task, err)));
}

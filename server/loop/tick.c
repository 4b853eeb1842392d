// See tick.h.
#include "server/loop/tick.h"

#include <math.h>

#include "server/common/clock.h"
#include "server/db/settings.h"
#include "server/ledger/ledger.h"
#include "sql/core.h"
#include "sql/ledger.h"
#include "sql/users.h"

enum { DAY_S = 86400, HOUR_S = 3600, ELAPSED_MAX_S = 60 };

void tick_in_turn(Loop *loop, double now) {
    Housekeeping *keeping = &loop->housekeeping;
    Turn *turn = &loop->turn;
    Error err;
    double elapsed_s = keeping->last > 0 ? fmin(fmax(now - keeping->last, 0), ELAPSED_MAX_S) : 0;
    ledger_follow_clock(turn->db, &keeping->clock, time_now(), time_monotonic());
    ledger_expire(turn);
    ledger_count_waiting(turn);
    ledger_settle(turn);
    ledger_exclude_outvoted(turn, &keeping->recount);
    keeping->each_second(keeping->each_second_arg, turn);
    disk_policy_tick(&keeping->disk, turn, loop->site->data, keeping->sweeper, elapsed_s);
    for (int i = 0; i < turn->token_count; i++)
        sql_token_used(turn->db, &err, .token = turn->tokens_used[i], .now = now);
    turn->token_count = 0;
    sql_ledger_prints_forget(turn->db, &err);
    sql_machines_forget(turn->db, &err, now - DAY_S);
    sql_events_forget(turn->db, &err,
                      now - DAY_S * (double)setting_whole(turn->db, SETTING_EVENT_DAYS));
    if ((long)(now / HOUR_S) != (long)(keeping->last / HOUR_S)) {
        sql_sessions_expire(turn->db, &err, now);
        sql_login_failures_expire(turn->db, &err, now - DAY_S);
        sql_idempotency_expire(turn->db, &err, now - DAY_S);
    }
    keeping->last = now;
}

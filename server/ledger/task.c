// Tasks: loading, heartbeats, ends, leases. See ledger.h and task.h.
#include "server/ledger/task.h"
#include "server/ledger/play_speed.h"
#include "server/ledger/ranges.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/log.h"
#include "sql/ledger.h"

static void copy_word(char *out, size_t size, const char *text) {
    snprintf(out, size, "%s", text);
}

// ---- the results of a test ----------------------------------------------------------------------

// `from`: the state to begin with; NULL: the stored one.
static bool load_count(Turn *turn, int64_t test, int64_t task, const char *from, TestCount *out,
                       Error *err) {
    SqlLedgerCount row scope(sql_row_free) = {0};
    *out = (TestCount){0};
    if (!sql_ledger_count(turn->db, &row, .test = test, .task = task))
        return error_set(err, 404, "no_such_test", "there is no test %lld", (long long)test);
    bool good =
        count_init(&out->count, row.workload, row.parameters, from ? from : row.counts, err);
    out->count.test.batch_units = row.batch_pairs;
    out->count.test.units_max = row.pairs_max;
    out->count.units = row.units_counted;
    out->count.author = row.author_id;
    out->count.author_units = row.units_author;
    out->count.counted =
        (Shares){{[LEVEL_UNPROVEN] = row.units_unproven,
                  [LEVEL_RECORDED] = row.units_recorded,
                  [LEVEL_VOUCHED] = row.units_counted - row.units_recorded - row.units_unproven}};
    out->positions = row.positions;
    out->state = test_state_of(row.state);
    out->told = json_loads(row.told, 0, NULL);
    return good;
}

bool test_count_load(Turn *turn, int64_t test, int64_t task, TestCount *out, Error *err) {
    return load_count(turn, test, task, NULL, out, err);
}

bool test_count_begin(Turn *turn, int64_t test, TestCount *out, Error *err) {
    return load_count(turn, test, 0, "{}", out, err);
}

void test_count_release(TestCount *count) {
    count_release(&count->count);
    json_decref(count->told);
}

bool test_count_store(Turn *turn, int64_t test, const TestCount *count, Error *err) {
    const Count *c = &count->count;
    char *counts scope(free_ptr) = count_state_text(c),
                 *points scope(free_ptr) = count_points_text(c);
    return sql_ledger_test_counted(
        turn->db, err, .test = test, .units = c->units, .counts = counts, .points = points,
        .promise = c->workload->promise(&c->test, c->state), .positions = count->positions,
        .recorded = c->counted.of[LEVEL_RECORDED], .unproven = c->counted.of[LEVEL_UNPROVEN],
        .author = c->author_units);
}

// ---- tasks --------------------------------------------------------------------------------------

bool task_load(Turn *turn, int64_t task, int64_t worker, TaskRow *row, Error *err) {
    *row = (TaskRow){0};
    SqlLedgerTask found scope(sql_row_free) = {0};
    if (!sql_ledger_task(turn->db, &found, task))
        return error_set(err, 404, "no_such_task", "there is no task %lld", (long long)task);
    if (worker && found.worker_id != worker)
        return error_set(err, 403, "not_your_task", "task %lld belongs to another machine",
                         (long long)task);
    const Workload *workload = workload_named(found.workload);
    *row = (TaskRow){
        .id = task,
        .worker = found.worker_id,
        .first_pair = found.first_pair,
        .pair_count = found.pair_count,
        .plies = found.plies,
        .next_seq = found.next_seq,
        .started_pairs = found.started_pairs,
        .lease_until = found.lease_until,
        .lease_s = found.lease_s,
        .batch_until = found.batch_until,
        .batch_s = found.batch_s,
        .due = found.due,
        .expected_s = found.expected_s,
        .state = task_state_of(found.state),
        .blocked = found.barred,
        .rerun_of = found.rerun_of,
        .level = (OwnerLevel)found.level,
        .test = {.id = found.test_id,
                 .batch_pairs = found.batch_pairs,
                 .state = test_state_of(found.test_state),
                 .plays_pairs = workload && workload->unit == UNIT_PAIR},
    };
    copy_word(row->phase, sizeof row->phase, found.phase);
    copy_word(row->owner, sizeof row->owner, found.owner);
    copy_word(row->network, sizeof row->network, found.network);
    copy_word(row->sides[0], sizeof row->sides[0], found.side);
    copy_word(row->sides[1], sizeof row->sides[1], found.against ? found.against : "");
    return true;
}

bool task_plays(const TaskRow *row, const char *side, Error *err) {
    if (*side && (strcmp(side, row->sides[0]) == 0 || strcmp(side, row->sides[1]) == 0))
        return true;
    return error_field(err, 422, "bad_request", "side", "side is %s%s%s", row->sides[0],
                       *row->sides[1] ? " or " : "", row->sides[1]);
}

bool task_is_open(const TaskRow *row) {
    return row->state == TASK_OPEN;
}

// Returns only constants, so the text outlives the row.
static const char *why_not(const TaskRow *row) {
    static const char *const ends[TASK_STATE_COUNT] = {
        [TASK_DONE] = "done",       [TASK_EXPIRED] = "expired", [TASK_RELEASED] = "released",
        [TASK_FAILED] = "released", [TASK_STOPPED] = "paused", // its test awaits approval again
    };
    if (row->test.state == TEST_FINISHED && !(row->rerun_of && task_is_open(row)))
        return "finished";
    if (ends[row->state])
        return ends[row->state];
    return row->test.state == TEST_ACTIVE || row->test.state == TEST_FINISHED ? "" : "paused";
}

TaskReply task_reply(Turn *turn, const TaskRow *row) {
    const char *why = why_not(row);
    double left = fmax(row->lease_until - turn->now, 0);
    return (TaskReply){.continues = !*why, .why = why, .lease_s = *why ? 0 : ceil(left)};
}

void task_note_started(TaskRow *row, int64_t started_pairs) {
    int64_t reported = row->next_seq * row->test.batch_pairs;
    if (started_pairs > row->started_pairs)
        row->started_pairs = started_pairs;
    if (row->started_pairs < reported)
        row->started_pairs = reported;
    if (row->started_pairs > row->pair_count)
        row->started_pairs = row->pair_count;
}

BegunTask task_begun(const TaskRow *row) {
    return (BegunTask){.id = row->id,
                       .test = row->test.id,
                       .worker = row->worker,
                       .owner = row->owner,
                       .level = row->level,
                       .first_pair = row->first_pair,
                       .pair_count = row->pair_count,
                       .batch_pairs = row->test.batch_pairs,
                       .next_seq = row->next_seq,
                       .started_pairs = row->started_pairs};
}

static bool ended_by_machine(const TaskRow *row) {
    return row->state != TASK_DONE && row->state != TASK_STOPPED;
}

bool task_return_unreported(Turn *turn, const TaskRow *row, Error *err) {
    BegunTask task = task_begun(row);
    int64_t reported = row->next_seq * row->test.batch_pairs,
            begun = ended_by_machine(row) ? begun_pairs_and_next(&task) : begun_pairs(&task);
    return ranges_return(turn, row->test.id, row->first_pair + reported, begun - reported,
                         row->owner, err) &&
           ranges_return(turn, row->test.id, row->first_pair + begun, row->pair_count - begun, "",
                         err);
}

// A machine may end so many tasks in a row without a result. Then it waits: so long at first,
// twice as long each time, at most a quarter of an hour. A rule of the system, which protects the
// tests of all authors from a machine that fails them all.
enum { FRUITLESS_FREE = 3, REST_FIRST_S = 10, REST_MOST_S = 900 };

static bool note_fruitless(Turn *turn, int64_t worker, Error *err) {
    return sql_ledger_worker_fruitless(turn->db, err, .worker = worker, .now = turn->now,
                                       .free = FRUITLESS_FREE, .first_s = REST_FIRST_S,
                                       .most_s = REST_MOST_S);
}

// Whether the batch under way is dropped even if no game of it was started.
static bool had_time(const Turn *turn, const TaskRow *row) {
    enum { AT_ONCE_S = 30, PART = 10 }; // a worker that stops after a batch needs seconds
    double began = row->due - row->expected_s;
    bool late = turn->now - began > fmax(AT_ONCE_S, row->expected_s / PART);
    return row->state == TASK_EXPIRED ||
           (late && (row->state == TASK_RELEASED || strcmp(row->phase, "play") == 0));
}

bool task_end(Turn *turn, TaskRow *row, TaskState state, Error *err) {
    int64_t batch = row->test.batch_pairs;
    assert(batch > 0);
    task_note_started(row, 0);
    row->state = state;
    bool by_machine = ended_by_machine(row);
    BegunTask begun = task_begun(row);
    if (!sql_ledger_task_end(turn->db, err, .task = row->id, .state = task_state_name(state),
                             .started_pairs = row->started_pairs, .now = turn->now) ||
        (row->test.state != TEST_FINISHED && !row->rerun_of &&
         !task_return_unreported(turn, row, err)) ||
        (by_machine && !row->blocked && (row->rerun_of || row->test.state == TEST_ACTIVE) &&
         !begun_ended(turn, &begun, had_time(turn, row), err)) ||
        !sql_ledger_test_unsettle(turn->db, err, row->test.id) ||
        (by_machine && !row->next_seq && !note_fruitless(turn, row->worker, err)) ||
        (row->next_seq && !play_speed_judge(turn, row->test.id, row->worker, err)))
        return false;
    if (row->next_seq * batch < row->pair_count)
        turn_wake(turn); // another machine can play the returned pairs
    return true;
}

// ---- heartbeats ---------------------------------------------------------------------------------

static const struct Phase {
    const char *name;
    double lease_s; // 0: computed for each task
} phases[] = {
    {"claimed", LEASE_FIRST_S},
    {"fetch", LEASE_FETCH_S},
    {"build", LEASE_BUILD_S},
    {"bench", LEASE_BENCH_S},
    {"play", 0},
};

static int phase_rank(const char *name) {
    for (int i = 0; i < (int)(sizeof phases / sizeof *phases); i++)
        if (strcmp(phases[i].name, name) == 0)
            return i;
    return -1;
}

// A later phase or more plies are progress and renew the lease. Any other heartbeat leaves the
// lease as it is. No heartbeat extends it beyond the time at which the next batch is due.
static void lease_renew(Turn *turn, TaskRow *row, const Heartbeat *heartbeat) {
    int old_phase = phase_rank(row->phase), new_phase = phase_rank(heartbeat->phase);
    bool progress = new_phase > old_phase || heartbeat->plies > row->plies;
    if (new_phase > old_phase)
        copy_word(row->phase, sizeof row->phase, heartbeat->phase);
    if (heartbeat->plies > row->plies)
        row->plies = heartbeat->plies;
    if (!progress)
        return;
    double lease = phases[phase_rank(row->phase)].lease_s;
    row->lease_until = fmin(turn->now + (lease > 0 ? lease : row->lease_s), row->batch_until);
}

bool ledger_heartbeat(Turn *turn, const Heartbeat *heartbeat, TaskReply *reply, Error *err) {
    TaskRow row;
    if (!task_load(turn, heartbeat->task, heartbeat->worker, &row, err))
        return false;
    if (phase_rank(heartbeat->phase) < 1)
        return error_field(err, 422, "bad_request", "phase",
                           "phase is fetch, build, bench or play");
    if (heartbeat->started_pairs > row.pair_count)
        return error_field(err, 422, "bad_request", "started_pairs", "the task has %lld pairs",
                           (long long)row.pair_count);
    if (task_is_open(&row)) {
        lease_renew(turn, &row, heartbeat);
        task_note_started(&row, heartbeat->started_pairs);
        if (!sql_ledger_task_heartbeat(turn->db, err, .task = row.id, .phase = row.phase,
                                       .plies = row.plies, .started_pairs = row.started_pairs,
                                       .lease_until = row.lease_until) ||
            (row.blocked && !task_end(turn, &row, TASK_RELEASED, err)))
            return false;
    }
    *reply = task_reply(turn, &row);
    return sql_ledger_worker_seen(turn->db, err, .worker = heartbeat->worker, .now = turn->now);
}

bool ledger_release(Turn *turn, int64_t task, int64_t worker, int64_t started_pairs, Error *err) {
    TaskRow row;
    if (!task_load(turn, task, worker, &row, err))
        return false;
    if (started_pairs > row.pair_count)
        return error_field(err, 422, "bad_request", "started_pairs", "the task has %lld pairs",
                           (long long)row.pair_count);
    if (!task_is_open(&row))
        return true;
    task_note_started(&row, started_pairs);
    return task_end(turn, &row, TASK_RELEASED, err);
}

// ---- leases -------------------------------------------------------------------------------------

// The ids are collected first, because ending a task changes the index that the query reads.
void ledger_expire(Turn *turn) {
    enum { AT_ONCE = 1000 };
    int64_t ids[AT_ONCE];
    int count = 0;
    SqlLedgerTasksExpiredRows rows scope(sql_rows_end) =
        sql_ledger_tasks_expired(turn->db, .now = turn->now, .most = AT_ONCE);
    while (sql_ledger_tasks_expired_next(&rows))
        ids[count++] = rows.row.id;
    for (int i = 0; i < count; i++) {
        TaskRow row;
        Error err;
        db_savepoint(turn->db);
        if (!task_load(turn, ids[i], 0, &row, &err) || !task_end(turn, &row, TASK_EXPIRED, &err)) {
            log_error("task %lld does not expire: %s", (long long)ids[i], err.message);
            db_savepoint_undo(turn->db);
            continue;
        }
        db_savepoint_keep(turn->db);
        ledger_event(turn, "expired", 0, row.worker, row.test.id,
                     "task %lld sent no heartbeat or no batch in time; %lld of its %lld pairs were "
                     "reported",
                     (long long)row.id, (long long)(row.next_seq * row.test.batch_pairs),
                     (long long)row.pair_count);
    }
}

// A task that seems to have begun later than it did had less time than its games took. One that
// seems to have begun earlier is only allowed more. All places move, so their order stays.
bool ledger_move_time(Db *db, double seconds, Error *err) {
    return seconds == 0 || (sql_ledger_leases_shift(db, err, seconds) &&
                            sql_ledger_waiting_shift(db, err, seconds) &&
                            (seconds > 0 || sql_ledger_starts_shift(db, err, seconds)));
}

void ledger_follow_clock(Db *db, ClockGap *gap, double unix_time, double monotonic) {
    enum { STEP_S = 5 }; // less is how clocks are adjusted
    double seconds = unix_time - monotonic, step = seconds - gap->seconds;
    bool stepped = gap->known && fabs(step) >= STEP_S;
    Error err;
    *gap = (ClockGap){.known = true, .seconds = seconds};
    if (!stepped)
        return;
    log_warn("the clock of this machine was set %s by %.0f s; leases move with it",
             step < 0 ? "back" : "forward", fabs(step));
    if (!ledger_move_time(db, step, &err))
        log_error("the leases cannot follow the clock: %s", err.message);
}

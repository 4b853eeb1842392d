// Tasks: loading, heartbeats, ends, leases. See ledger.h and task.h.
#include "server/ledger/task.h"
#include "server/ledger/kinds.h"
#include "server/ledger/ranges.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/log.h"

static void copy_word(char *out, size_t size, const char *text) {
    snprintf(out, size, "%s", text);
}

static void read_task(Query *q, TaskRow *row) {
    row->worker = query_int(q, COL_LEDGER_TASK_WORKER_ID);
    row->state = task_state_of(query_text(q, COL_LEDGER_TASK_STATE));
    copy_word(row->phase, sizeof row->phase, query_text(q, COL_LEDGER_TASK_PHASE));
    row->first_pair = query_int(q, COL_LEDGER_TASK_FIRST_PAIR);
    row->pair_count = query_int(q, COL_LEDGER_TASK_PAIR_COUNT);
    row->plies = query_int(q, COL_LEDGER_TASK_PLIES);
    row->next_seq = query_int(q, COL_LEDGER_TASK_NEXT_SEQ);
    row->started_pairs = query_int(q, COL_LEDGER_TASK_STARTED_PAIRS);
    row->lease_until = query_real(q, COL_LEDGER_TASK_LEASE_UNTIL);
    row->lease_s = query_real(q, COL_LEDGER_TASK_LEASE_S);
    row->batch_s = query_real(q, COL_LEDGER_TASK_BATCH_S);
    row->batch_until = query_real(q, COL_LEDGER_TASK_BATCH_UNTIL);
    row->blocked = query_int(q, COL_LEDGER_TASK_BARRED) != 0;
    snprintf(row->owner, sizeof row->owner, "%s", query_text(q, COL_LEDGER_TASK_OWNER));
}

static bool read_test(Query *q, TaskRow *row) {
    Tally *tally = &row->test.tally;
    row->test.id = query_int(q, COL_LEDGER_TEST_ID);
    row->test.state = test_state_of(query_text(q, COL_LEDGER_TEST_STATE));
    row->test.rule = (TestRule){
        test_kind_of(query_text(q, COL_LEDGER_TEST_KIND)),
        verdict_bounds(query_text(q, COL_LEDGER_TEST_MODEL), query_real(q, COL_LEDGER_TEST_ELO0),
                       query_real(q, COL_LEDGER_TEST_ELO1), query_real(q, COL_LEDGER_TEST_ALPHA),
                       query_real(q, COL_LEDGER_TEST_BETA)),
        query_int(q, COL_LEDGER_TEST_BATCH_PAIRS), query_int(q, COL_LEDGER_TEST_PAIRS_MAX)};
    for (int i = 0; i < 5; i++)
        tally->ptnml[i] = query_int(q, COL_LEDGER_TEST_PTNML0 + i);
    tally->wins = query_int(q, COL_LEDGER_TEST_WINS);
    tally->losses = query_int(q, COL_LEDGER_TEST_LOSSES);
    tally->draws = query_int(q, COL_LEDGER_TEST_DRAWS);
    tally->crashes = query_int(q, COL_LEDGER_TEST_CRASHES);
    tally->time_losses = query_int(q, COL_LEDGER_TEST_TIME_LOSSES);
    return verdict_state_read(query_text(q, COL_LEDGER_TEST_SPRT_STATE), &tally->sprt) &&
           row->test.rule.kind != KIND_COUNT;
}

bool test_load(Turn *turn, int64_t test, TaskRow *row, Error *err) {
    Query q = query(turn->db, SQL_LEDGER_TEST, "i", test);
    if (!query_step(&q))
        return error_set(err, 404, "no_such_test", "there is no test %lld", (long long)test);
    bool good = read_test(&q, row);
    query_end(&q);
    return good || error_set(err, 500, "database",
                             "this server does not know the kind of test %lld, "
                             "or the state of its stop rule is unreadable",
                             (long long)test);
}

bool task_load(Turn *turn, int64_t task, int64_t worker, TaskRow *row, Error *err) {
    *row = (TaskRow){.id = task};
    Query q = query(turn->db, SQL_LEDGER_TASK, "i", task);
    if (!query_step(&q))
        return error_set(err, 404, "no_such_task", "there is no task %lld", (long long)task);
    read_task(&q, row);
    int64_t test = query_int(&q, COL_LEDGER_TASK_TEST_ID);
    query_end(&q);
    if (worker && row->worker != worker)
        return error_set(err, 403, "not_your_task", "task %lld belongs to another machine",
                         (long long)task);
    return test_load(turn, test, row, err);
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
    if (row->test.state == TEST_FINISHED)
        return "finished";
    if (ends[row->state])
        return ends[row->state];
    return row->test.state == TEST_ACTIVE ? "" : "paused";
}

TaskReply task_reply(Turn *turn, const TaskRow *row) {
    const char *why = why_not(row);
    double left = fmax(row->lease_until - turn->now, 0);
    return (TaskReply){.continues = !*why, .why = why, .lease_s = *why ? 0 : ceil(left)};
}

void task_note_started(TaskRow *row, int64_t started_pairs) {
    int64_t reported = row->next_seq * row->test.rule.batch_pairs;
    if (started_pairs > row->started_pairs)
        row->started_pairs = started_pairs;
    if (row->started_pairs < reported)
        row->started_pairs = reported;
    if (row->started_pairs > row->pair_count)
        row->started_pairs = row->pair_count;
}

// Returns the pairs that were not reported. Those that were started keep the name of their owner.
static bool return_unreported(Turn *turn, const TaskRow *row, Error *err) {
    int64_t batch = row->test.rule.batch_pairs, reported = row->next_seq * batch;
    int64_t started = (row->started_pairs + batch - 1) / batch * batch;
    return ranges_return(turn, row->test.id, row->first_pair + reported, started - reported,
                         row->owner, err) &&
           ranges_return(turn, row->test.id, row->first_pair + started, row->pair_count - started,
                         "", err);
}

// A machine may end so many tasks in a row without a result. Then it waits: so long at first, twice
// as long each time, at most a quarter of an hour. A rule of the system, which protects the tests of
// all authors from a machine that fails them all.
enum { FRUITLESS_FREE = 3, REST_FIRST_S = 10, REST_MOST_S = 900 };

static bool note_fruitless(Turn *turn, int64_t worker, Error *err) {
    return db_write(turn->db, err, SQL_LEDGER_WORKER_FRUITLESS,
                    json_pack("{s:I, s:f, s:i, s:i, s:i}", "worker", (json_int_t)worker, "now",
                              turn->now, "free", FRUITLESS_FREE, "first_s", REST_FIRST_S, "most_s",
                              REST_MOST_S));
}

bool task_end(Turn *turn, TaskRow *row, TaskState state, Error *err) {
    int64_t batch = row->test.rule.batch_pairs;
    assert(batch > 0);
    task_note_started(row, 0);
    row->state = state;
    bool by_machine = state != TASK_DONE && state != TASK_STOPPED;
    if (!db_write(turn->db, err, SQL_LEDGER_TASK_END,
                  json_pack("{s:I, s:s, s:I, s:f}", "task", (json_int_t)row->id, "state",
                            task_state_name(state), "started_pairs", (json_int_t)row->started_pairs,
                            "finished", turn->now)) ||
        (row->test.state != TEST_FINISHED && !return_unreported(turn, row, err)) ||
        (by_machine && !row->next_seq && !note_fruitless(turn, row->worker, err)))
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
        if (!db_write(turn->db, err, SQL_LEDGER_TASK_HEARTBEAT,
                      json_pack("{s:I, s:s, s:I, s:I, s:f}", "task", (json_int_t)row.id, "phase",
                                row.phase, "plies", (json_int_t)row.plies, "started_pairs",
                                (json_int_t)row.started_pairs, "lease_until", row.lease_until)) ||
            (row.blocked && !task_end(turn, &row, TASK_RELEASED, err)))
            return false;
    }
    *reply = task_reply(turn, &row);
    return db_run(turn->db, err, SQL_LEDGER_WORKER_SEEN, "id", heartbeat->worker, turn->now);
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
    for (Query q = query(turn->db, SQL_LEDGER_TASKS_EXPIRED, "di", turn->now, (int64_t)AT_ONCE);
         query_step(&q);)
        ids[count++] = query_int(&q, COL_LEDGER_TASKS_EXPIRED_ID);
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
                     (long long)row.id, (long long)(row.next_seq * row.test.rule.batch_pairs),
                     (long long)row.pair_count);
    }
}

bool ledger_resume(Db *db, double down_seconds, Error *err) {
    return down_seconds <= 0 || db_run(db, err, SQL_LEDGER_LEASES_SHIFT, "d", down_seconds);
}

// Bench counts of trees that have none: the votes of machines, weighed by owner as quorum.h says,
// and the exclusion of the machines that are outvoted. See ledger.h.
#include <string.h>

#include "server/common/log.h"
#include "server/ledger/outvoted.h"
#include "server/ledger/quorum.h"
#include "server/ledger/task.h"
#include "sql/ledger.h"

typedef struct Side {
    const char *name;
    int64_t engine, bench;      // established, or declared for this test; 0: none
    bool open;                  // machines have not established it
    char sha[48], snapshot[72]; // the commit, and its tree
} Side;

typedef struct Votes {
    BenchVote votes[BENCH_VOTES_MAX];
    char names[BENCH_VOTES_MAX][65];
    int count;
} Votes;

static bool side_load(Turn *turn, int64_t test, const char *name, Side *side, Error *err) {
    *side = (Side){.name = name};
    SqlLedgerSide found scope(sql_row_free) = {0};
    if (!sql_ledger_side(turn->db, &found, .test = test, .side = name))
        return error_field(err, 422, "bad_request", "side", "test %lld has no side '%.32s'",
                           (long long)test, name);
    side->engine = found.engine_id;
    side->bench = found.has_bench ? found.bench : 0;
    side->open = found.is_open;
    snprintf(side->sha, sizeof side->sha, "%s", found.sha);
    snprintf(side->snapshot, sizeof side->snapshot, "%s", found.snapshot);
    return true;
}

static void votes_load(Turn *turn, const Side *side, Votes *votes) {
    votes->count = 0;
    SqlLedgerBenchVotesRows rows scope(sql_rows_end) =
        sql_ledger_bench_votes(turn->db, .engine = side->engine, .snapshot = side->snapshot);
    while (votes->count < BENCH_VOTES_MAX && sql_ledger_bench_votes_next(&rows)) {
        BenchVote *vote = &votes->votes[votes->count];
        *vote = (BenchVote){.nodes = rows.row.nodes,
                            .worker = rows.row.worker_id,
                            .level = (OwnerLevel)rows.row.level};
        snprintf(vote->owner, sizeof vote->owner, "%s", rows.row.owner);
        snprintf(vote->network, sizeof vote->network, "%s", rows.row.network);
        snprintf(votes->names[votes->count], sizeof votes->names[0], "%s", rows.row.name);
        votes->count++;
    }
}

// ---- machines that are outvoted -----------------------------------------------------------------

static bool outvoted_note(Turn *turn, int64_t test, const Side *side, const BenchVote *vote,
                          int64_t nodes, Error *err) {
    char message[160];
    int64_t task = sql_ledger_task_of_outvoted(turn->db, 0, .test = test, .worker = vote->worker);
    TaskRow row;
    if (!task)
        return true;
    snprintf(message, sizeof message, "bench is %lld there, and %lld on machines of other owners",
             (long long)vote->nodes, (long long)nodes);
    if (!task_load(turn, task, 0, &row, err) ||
        !failure_store(turn, &row,
                       &(Failure){.task = task,
                                  .worker = vote->worker,
                                  .bench = vote->nodes,
                                  .kind = "bench",
                                  .side = side->name,
                                  .message = message,
                                  .log = ""},
                       err) ||
        (task_is_open(&row) && !task_end(turn, &row, TASK_FAILED, err)))
        return false;
    ledger_event(turn, "crash", 0, vote->worker, test, "outvoted: bench of %s is %lld, not %lld",
                 side->name, (long long)nodes, (long long)vote->nodes);
    return true;
}

static bool establish(Turn *turn, int64_t test, const Side *side, const Votes *votes, int64_t nodes,
                      Error *err) {
    if (!sql_ledger_bench_establish(turn->db, err, .engine = side->engine, .sha = side->sha,
                                    .nodes = nodes))
        return false;
    for (int i = 0; i < votes->count; i++) {
        const BenchVote *vote = &votes->votes[i];
        if (vote->nodes != nodes && (!outvoted_note(turn, test, side, vote, nodes, err) ||
                                     !outvoted_exclude(turn, test, vote->worker, err)))
            return false;
    }
    return true;
}

// ---- votes --------------------------------------------------------------------------------------

static bool pause_tied(Turn *turn, int64_t test, const Side *side, const Votes *votes, Error *err) {
    enum { NAMED = 12 };
    Str reason scope(str_release);
    str_init(&reason, 4096);
    str_printf(&reason,
               "Paused: the bench of %s (%.10s) must be the same everywhere and is not, and no "
               "third owner's machine is here to decide:",
               strcmp(side->name, "new") == 0 ? "the patch" : "the base", side->sha);
    for (int i = 0; i < votes->count && i < NAMED; i++)
        str_printf(&reason, "\n%lld on %s (machine %lld)", (long long)votes->votes[i].nodes,
                   votes->names[i], (long long)votes->votes[i].worker);
    if (votes->count > NAMED)
        str_printf(&reason, "\nand %d more", votes->count - NAMED);
    return test_suspend(turn, test, reason.data, err);
}

static bool bench_store(Turn *turn, const Side *side, const TaskRow *row, int64_t nodes,
                        Error *err) {
    return sql_ledger_bench_add(turn->db, err, .engine = side->engine, .snapshot = side->snapshot,
                                .worker = row->worker, .owner = row->owner, .network = row->network,
                                .level = row->level, .nodes = nodes, .now = turn->now);
}

static BenchScene scene_of(Turn *turn, int64_t test, const Side *side) {
    SqlLedgerBenchScene found = {0};
    sql_ledger_bench_scene(turn->db, &found, .test = test, .engine = side->engine,
                           .snapshot = side->snapshot, .since = turn->now - ACTIVE_S);
    return (BenchScene){.another = found.others,
                        .another_proven = found.proven_others,
                        .another_vouched = found.vouched_others};
}

// Establishes the count of a side of an active test if the votes suffice. Otherwise *established
// stays 0.
static bool settle(Turn *turn, int64_t test, const Side *side, int64_t *established, Error *err) {
    Votes *votes scope(free_ptr) = xmalloc(sizeof *votes);
    votes_load(turn, side, votes);
    if (!votes->count)
        return true;
    BenchScene scene = scene_of(turn, test, side);
    BenchDecision decision = bench_weigh(votes->votes, votes->count, &scene);
    if (decision.verdict == BENCH_WAIT)
        return true;
    if (decision.verdict == BENCH_TIED)
        return pause_tied(turn, test, side, votes, err);
    *established = decision.nodes;
    return establish(turn, test, side, votes, decision.nodes, err);
}

bool ledger_bench(Turn *turn, int64_t task, int64_t worker, const char *side_name, int64_t nodes,
                  int64_t *established, TaskReply *reply, Error *err) {
    TaskRow row;
    Side side = {0};
    if (!task_load(turn, task, worker, &row, err) || !task_plays(&row, side_name, err) ||
        !side_load(turn, row.test.id, side_name, &side, err))
        return false;
    if (nodes < 1)
        return error_field(err, 422, "bad_request", "nodes", "nodes must be above 0");
    *established = side.bench;
    if (side.bench && side.bench != nodes)
        return error_field(err, 409, "bench_differs", "nodes",
                           "bench of %s is known to be %lld, not %lld", side_name,
                           (long long)side.bench, (long long)nodes);
    if (!side.bench && row.test.state != TEST_FINISHED) {
        if (!bench_store(turn, &side, &row, nodes, err) ||
            (row.test.state == TEST_ACTIVE &&
             !settle(turn, row.test.id, &side, established, err)) ||
            !task_load(turn, task, worker, &row, err)) // ending a task may have changed this one
            return false;
    }
    *reply = task_reply(turn, &row);
    return true;
}

// A machine whose first batch counts has built its sides, and its counts matched the declared
// ones.
bool bench_confirm(Turn *turn, const TaskRow *row, Error *err) {
    for (int i = 0; i < 2 && *row->sides[i]; i++) {
        Side side = {0};
        int64_t established = 0;
        if (!side_load(turn, row->test.id, row->sides[i], &side, err) ||
            (side.open && side.bench &&
             (!bench_store(turn, &side, row, side.bench, err) ||
              !settle(turn, row->test.id, &side, &established, err))))
            return false;
    }
    return true;
}

bool ledger_bench_correct(Turn *turn, int64_t engine, const char *sha, int64_t nodes, int64_t user,
                          int64_t test, Error *err) {
    int64_t known = sql_ledger_bench_known(turn->db, -1, .engine = engine, .sha = sha);
    if (known < 0)
        return error_set(err, 404, "no_such_commit", "no test has the commit %.10s", sha);
    if (nodes < 1 || nodes > (int64_t)1e15)
        return error_field(err, 422, "bad_field", "nodes",
                           "nodes: a count of nodes is a whole number from 1 to 1e15");
    if (!sql_ledger_bench_establish(turn->db, err, .engine = engine, .sha = sha, .nodes = nodes) ||
        !sql_ledger_benches_drop(turn->db, err, .engine = engine, .sha = sha) ||
        !sql_ledger_bench_of_sides(turn->db, err, .engine = engine, .sha = sha) ||
        !sql_ledger_bench_of_tests(turn->db, err, .engine = engine, .sha = sha, .now = turn->now))
        return false;
    char was[40] = "was not known";
    if (known)
        snprintf(was, sizeof was, "was %lld", (long long)known);
    ledger_event(turn, "bench", user, 0, test, "bench of %.10s is %lld now, and %s", sha,
                 (long long)nodes, was);
    turn_wake(turn);
    return true;
}

bool ledger_bench_correct_side(Turn *turn, int64_t test, const char *name, int64_t nodes,
                               int64_t user, Error *err) {
    Side side = {0};
    return side_load(turn, test, name, &side, err) &&
           ledger_bench_correct(turn, side.engine, side.sha, nodes, user, test, err);
}

static bool settle_again(Turn *turn, int64_t test, const char *name, Error *err) {
    Side side = {0};
    int64_t established = 0;
    char *state scope(free_ptr) = sql_ledger_test_state(turn->db, test);
    return !state || strcmp(state, "active") != 0 || // the other side has paused it
           (side_load(turn, test, name, &side, err) &&
            settle(turn, test, &side, &established, err));
}

// The names are collected first, because settling changes the rows that the query reads.
void ledger_settle(Turn *turn) {
    enum { AT_ONCE = 100 };
    struct {
        int64_t test;
        char side[SIDE_NAME_MAX + 1];
    } open[AT_ONCE];
    int count = 0;
    SqlLedgerBenchesOpenRows rows scope(sql_rows_end) = sql_ledger_benches_open(turn->db, AT_ONCE);
    while (sql_ledger_benches_open_next(&rows)) {
        open[count].test = rows.row.id;
        snprintf(open[count].side, sizeof open[count].side, "%s", rows.row.side);
        count++;
    }
    for (int i = 0; i < count; i++) {
        Error err;
        db_savepoint(turn->db);
        if (settle_again(turn, open[i].test, open[i].side, &err)) {
            db_savepoint_keep(turn->db);
            continue;
        }
        log_error("test %lld: bench counts cannot be settled: %s", (long long)open[i].test,
                  err.message);
        db_savepoint_undo(turn->db);
    }
}

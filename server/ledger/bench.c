// Bench counts of commits that have none: the votes of machines, weighed by owner as quorum.h says,
// and the exclusion of the machines that are outvoted. See ledger.h.
#include <string.h>

#include "server/common/log.h"
#include "server/ledger/quorum.h"
#include "server/ledger/task.h"

typedef struct Side {
    const char *name;
    int64_t engine, bench; // established, or declared for this test; 0: none
    bool open;             // machines have not established it
    char sha[48];
} Side;

typedef struct Votes {
    BenchVote votes[BENCH_VOTES_MAX];
    char names[BENCH_VOTES_MAX][65];
    int count;
} Votes;

static bool side_load(Turn *turn, int64_t test, const char *name, Side *side, Error *err) {
    if (strcmp(name, "new") != 0 && strcmp(name, "base") != 0)
        return error_field(err, 422, "bad_request", "side", "side is new or base");
    Query q = query(turn->db, SQL_LEDGER_SIDE, "is", test, name);
    if (!query_step(&q))
        return error_set(err, 404, "no_such_test", "there is no test %lld", (long long)test);
    *side =
        (Side){name, query_int(&q, COL_LEDGER_SIDE_ENGINE_ID), query_int(&q, COL_LEDGER_SIDE_BENCH),
               query_int(&q, COL_LEDGER_SIDE_IS_OPEN) != 0, ""};
    snprintf(side->sha, sizeof side->sha, "%s", query_text(&q, COL_LEDGER_SIDE_SHA));
    query_end(&q);
    return true;
}

static void votes_load(Turn *turn, const Side *side, Votes *votes) {
    votes->count = 0;
    for (Query q = query(turn->db, SQL_LEDGER_BENCH_VOTES, "is", side->engine, side->sha);
         query_step(&q);) {
        if (votes->count == BENCH_VOTES_MAX)
            continue;
        BenchVote *vote = &votes->votes[votes->count];
        *vote = (BenchVote){.nodes = query_int(&q, COL_LEDGER_BENCH_VOTES_NODES),
                            .worker = query_int(&q, COL_LEDGER_BENCH_VOTES_WORKER_ID)};
        vote->proven = query_int(&q, COL_LEDGER_BENCH_VOTES_PROVEN) != 0;
        snprintf(vote->owner, sizeof vote->owner, "%s",
                 query_text(&q, COL_LEDGER_BENCH_VOTES_OWNER));
        snprintf(vote->network, sizeof vote->network, "%s",
                 query_text(&q, COL_LEDGER_BENCH_VOTES_NETWORK));
        snprintf(votes->names[votes->count], sizeof votes->names[0], "%s",
                 query_text(&q, COL_LEDGER_BENCH_VOTES_NAME));
        votes->count++;
    }
}

// ---- machines that are outvoted -----------------------------------------------------------------

static bool outvoted_note(Turn *turn, int64_t test, const Side *side, const BenchVote *vote,
                          int64_t nodes, Error *err) {
    char message[160];
    int64_t task = db_int(turn->db, SQL_LEDGER_TASK_OF_OUTVOTED, 0, "ii", test, vote->worker);
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

// A machine with another bench played another engine. The server knows that without looking at
// results.
static bool outvoted_exclude(Turn *turn, int64_t test, const BenchVote *vote, Error *err) {
    Exclusion exclusion = {test, vote->worker, 0, "all", "its bench was wrong"};
    Excluded changed;
    return !db_int(turn->db, SQL_LEDGER_EXCLUDABLE, 0, "iis", test, vote->worker, "all") ||
           ledger_exclude(turn, &exclusion, &changed, err);
}

static bool establish(Turn *turn, int64_t test, const Side *side, const Votes *votes, int64_t nodes,
                      Error *err) {
    if (!db_run(turn->db, err, SQL_LEDGER_BENCH_ESTABLISH, "isi", side->engine, side->sha, nodes))
        return false;
    for (int i = 0; i < votes->count; i++) {
        const BenchVote *vote = &votes->votes[i];
        if (vote->nodes != nodes && (!outvoted_note(turn, test, side, vote, nodes, err) ||
                                     !outvoted_exclude(turn, test, vote, err)))
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

static bool bench_store(Turn *turn, const Side *side, int64_t worker, int64_t nodes, Error *err) {
    return db_write(turn->db, err, SQL_LEDGER_BENCH_ADD,
                    json_pack("{s:I, s:s, s:I, s:I, s:f}", "engine", (json_int_t)side->engine,
                              "sha", side->sha, "worker", (json_int_t)worker, "nodes",
                              (json_int_t)nodes, "created", turn->now));
}

static BenchScene scene_of(Turn *turn, int64_t test, const Side *side) {
    BenchScene scene = {0};
    Query q =
        query_named(turn->db, SQL_LEDGER_BENCH_SCENE,
                    json_pack("{s:I, s:s, s:I, s:f}", "engine", (json_int_t)side->engine, "sha",
                              side->sha, "test", (json_int_t)test, "since", turn->now - ACTIVE_S));
    if (query_step(&q)) {
        scene = (BenchScene){query_int(&q, COL_LEDGER_BENCH_SCENE_OTHERS) != 0,
                             query_int(&q, COL_LEDGER_BENCH_SCENE_PROVEN_OTHERS) != 0,
                             query_int(&q, COL_LEDGER_BENCH_SCENE_ANY_RECORDS) != 0};
        query_end(&q);
    }
    return scene;
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
    if (!task_load(turn, task, worker, &row, err) ||
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
        if (!bench_store(turn, &side, worker, nodes, err) ||
            (row.test.state == TEST_ACTIVE &&
             !settle(turn, row.test.id, &side, established, err)) ||
            !task_load(turn, task, worker, &row, err)) // ending a task may have changed this one
            return false;
    }
    *reply = task_reply(turn, &row);
    return true;
}

// A machine whose first batch counts has built both sides, and its counts matched the declared
// ones.
bool bench_confirm(Turn *turn, int64_t test, int64_t worker, Error *err) {
    static const char *const names[] = {"new", "base"};
    for (int i = 0; i < 2; i++) {
        Side side = {0};
        int64_t established = 0;
        if (!side_load(turn, test, names[i], &side, err) ||
            (side.open && side.bench &&
             (!bench_store(turn, &side, worker, side.bench, err) ||
              !settle(turn, test, &side, &established, err))))
            return false;
    }
    return true;
}

bool ledger_bench_correct(Turn *turn, int64_t engine, const char *sha, int64_t nodes, int64_t user,
                          int64_t test, Error *err) {
    int64_t known = db_int(turn->db, SQL_LEDGER_BENCH_KNOWN, -1, "is", engine, sha);
    if (known < 0)
        return error_set(err, 404, "no_such_commit", "no test has the commit %.10s", sha);
    if (nodes < 1 || nodes > (int64_t)1e15)
        return error_field(err, 422, "bad_field", "nodes",
                           "nodes: a count of nodes is a whole number from 1 to 1e15");
    if (!db_run(turn->db, err, SQL_LEDGER_BENCH_ESTABLISH, "isi", engine, sha, nodes) ||
        !db_run(turn->db, err, SQL_LEDGER_BENCHES_DROP, "is", engine, sha) ||
        !db_run(turn->db, err, SQL_LEDGER_BENCH_OF_TESTS, "isd", engine, sha, turn->now))
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
    char *state scope(free_ptr) = db_text(turn->db, SQL_LEDGER_TEST_STATE, "i", test);
    return !state || strcmp(state, "active") != 0 || // the other side has paused it
           (side_load(turn, test, name, &side, err) &&
            settle(turn, test, &side, &established, err));
}

// The names are collected first, because settling changes the rows that the query reads.
void ledger_settle(Turn *turn) {
    enum { AT_ONCE = 100 };
    struct {
        int64_t test;
        bool is_new;
    } open[AT_ONCE];
    int count = 0;
    for (Query q = query(turn->db, SQL_LEDGER_BENCHES_OPEN, "i", (int64_t)AT_ONCE);
         query_step(&q);) {
        open[count].test = query_int(&q, COL_LEDGER_BENCHES_OPEN_ID);
        open[count++].is_new = strcmp(query_text(&q, COL_LEDGER_BENCHES_OPEN_SIDE), "new") == 0;
    }
    for (int i = 0; i < count; i++) {
        Error err;
        db_savepoint(turn->db);
        if (settle_again(turn, open[i].test, open[i].is_new ? "new" : "base", &err)) {
            db_savepoint_keep(turn->db);
            continue;
        }
        log_error("test %lld: bench counts cannot be settled: %s", (long long)open[i].test,
                  err.message);
        db_savepoint_undo(turn->db);
    }
}

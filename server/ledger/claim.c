// Claims: reads the rows for the scheduler, and makes a task of its choice. See ledger.h.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/game_memory.h"
#include "server/common/json_member.h"
#include "server/common/time_control.h"
#include "server/db/settings.h"
#include "server/ledger/ranges.h"
#include "server/ledger/task.h"

// A worker that has not measured its speed counts as this many times slower than the reference.
static const double UNKNOWN_FACTOR = 3;
// A batch may take this many times its expected time. For a machine that has not measured its
// speed, the slowest machine for which clocks are scaled is assumed. Before the first batch, the
// machine also fetches, builds, runs the bench and measures its speed.
static const double BATCH_PATIENCE = 4;
enum { PREPARATION_S = LEASE_FIRST_S + LEASE_FETCH_S + LEASE_BUILD_S + 2 * LEASE_BENCH_S };
enum { CANDIDATES_MAX = 1000 };

typedef struct Candidate {
    SchedTest test;
    double lease_s;
    double slowness; // how many times slower than assumed the machine may be
    int64_t author;
    char engine[64];
} Candidate;

static bool still_held(const Claim *claim, int64_t task) {
    for (int i = 0; i < claim->holding_count; i++)
        if (claim->holding[i] == task)
            return true;
    return false;
}

// The ids are collected first, because ending a task changes the rows that the query reads.
static bool release_forgotten(Turn *turn, const Claim *claim, Error *err) {
    enum { AT_ONCE = 256 };
    int64_t ids[AT_ONCE];
    int count = 0;
    for (Query q = query(turn->db, SQL_LEDGER_WORKER_OPEN_TASKS, "i", claim->worker);
         query_step(&q);)
        if (count < AT_ONCE && !still_held(claim, query_int(&q, COL_LEDGER_WORKER_OPEN_TASKS_ID)))
            ids[count++] = query_int(&q, COL_LEDGER_WORKER_OPEN_TASKS_ID);
    for (int i = 0; i < count; i++) {
        TaskRow row;
        if (!task_load(turn, ids[i], claim->worker, &row, err) ||
            !task_end(turn, &row, TASK_RELEASED, err))
            return false;
    }
    return true;
}

// The task that an earlier claim with this key got; 0: none. -1: the key was used for another
// request.
static int64_t claimed_before(Turn *turn, const Claim *claim, Error *err) {
    char subject[40];
    snprintf(subject, sizeof subject, "worker:%lld", (long long)claim->worker);
    json_auto_t *row = db_row(turn->db, SQL_IDEMPOTENCY_GET, "ss", subject, claim->key);
    if (!row)
        return 0;
    const char *hash = json_string_value(json_object_get(row, "request_hash"));
    if (strcmp(hash, claim->request_hash) != 0) {
        error_set(err, 409, "idempotency_conflict",
                  "this Idempotency-Key was used for another claim");
        return -1;
    }
    return strtoll(json_string_value(json_object_get(row, "body")), NULL, 10);
}

static bool remember(Turn *turn, const Claim *claim, int64_t task, Error *err) {
    char subject[40], body[24];
    snprintf(subject, sizeof subject, "worker:%lld", (long long)claim->worker);
    snprintf(body, sizeof body, "%lld", (long long)task);
    return db_write(turn->db, err, SQL_IDEMPOTENCY_PUT,
                    json_pack("{s:s, s:s, s:s, s:i, s:s, s:f}", "subject", subject, "key",
                              claim->key, "request_hash", claim->request_hash, "status", 200,
                              "body", body, "created", turn->now));
}

// The speed of a machine is the speed of its first engine, until it gets a task of another engine.
static bool note_speed(Turn *turn, const Claim *claim, const char *engine, Error *err) {
    void *first = json_object_iter(claim->speeds);
    double speed = engine  ? member_real(claim->speeds, engine)
                   : first ? json_number_value(json_object_iter_value(first))
                           : 0;
    return speed <= 0 || db_run(turn->db, err, SQL_LEDGER_WORKER_SPEED, "id", claim->worker, speed);
}

double ledger_rest_s(Turn *turn, int64_t worker) {
    return ceil(db_real(turn->db, SQL_LEDGER_WORKER_REST, 0, "id", worker, turn->now));
}

bool ledger_claim_begin(Turn *turn, const Claim *claim, Error *err) {
    int64_t before = claimed_before(turn, claim, err);
    if (before)
        return before > 0; // a repeat must not end the task that it will return
    double rest = ledger_rest_s(turn, claim->worker);
    if (rest > 0)
        return error_set(err, 429, "wait",
                         "this machine ended several tasks in a row without a result; claim "
                         "again in %.0f s",
                         rest);
    return db_run(turn->db, err, SQL_LEDGER_WORKER_OFFER, "iid", claim->worker,
                  (int64_t)claim->cores, turn->now) &&
           note_speed(turn, claim, NULL, err) && release_forgotten(turn, claim, err);
}

// ---- candidates ---------------------------------------------------------------------------------

static int64_t mib_of(int64_t bytes) {
    return bytes >> 20;
}

static GameMemory memory_of(Query *q) {
    return (GameMemory){
        .threads = (int)query_int(q, COL_LEDGER_CANDIDATES_THREADS),
        .hash_mib = {game_hash_mib(query_text(q, COL_LEDGER_CANDIDATES_NEW_OPTIONS)),
                     game_hash_mib(query_text(q, COL_LEDGER_CANDIDATES_BASE_OPTIONS))},
        .nets_mib = {mib_of(query_int(q, COL_LEDGER_CANDIDATES_NEW_FILES_BYTES)),
                     mib_of(query_int(q, COL_LEDGER_CANDIDATES_BASE_FILES_BYTES))}};
}

// The factor by which clocks are longer on this machine.
static double scale_of(const Claim *claim, Query *q, double *speed, double *slowness) {
    double reference = query_real(q, COL_LEDGER_CANDIDATES_REFERENCE_SPEED),
           low = query_real(q, COL_LEDGER_CANDIDATES_SCALE_MIN),
           high = query_real(q, COL_LEDGER_CANDIDATES_SCALE_MAX);
    *speed = member_real(claim->speeds, query_text(q, COL_LEDGER_CANDIDATES_NAME));
    *slowness = *speed > 0 ? 1 : fmax(high / UNKNOWN_FACTOR, 1);
    double factor = *speed > 0 ? reference / *speed : UNKNOWN_FACTOR;
    *speed = *speed > 0 ? fmax(*speed, reference / high) : reference / UNKNOWN_FACTOR;
    return fmin(fmax(factor, low), high);
}

static bool read_candidate(const Claim *claim, Query *q, Candidate *out) {
    TimeControl tc;
    Error err;
    if (!tc_parse(query_text(q, COL_LEDGER_CANDIDATES_TC), &tc, &err))
        return false; // no such test is accepted; if one exists, no machine gets it
    double speed, slowness, scale = scale_of(claim, q, &speed, &slowness);
    if (!tc_is_scaled(&tc))
        scale = 1;
    *out = (Candidate){.author = query_int(q, COL_LEDGER_CANDIDATES_AUTHOR_ID),
                       .slowness = slowness,
                       .lease_s = fmax(LEASE_PLAY_S, 2 * scale * tc_longest_seconds(&tc, speed))};
    snprintf(out->engine, sizeof out->engine, "%s", query_text(q, COL_LEDGER_CANDIDATES_NAME));
    int threads = (int)query_int(q, COL_LEDGER_CANDIDATES_THREADS);
    GameMemory memory = memory_of(q);
    out->test = (SchedTest){
        .id = query_int(q, COL_LEDGER_CANDIDATES_ID),
        .priority = query_int(q, COL_LEDGER_CANDIDATES_PRIORITY),
        .threads = threads,
        .batch_pairs = (int)query_int(q, COL_LEDGER_CANDIDATES_BATCH_PAIRS),
        .pairs_left = query_int(q, COL_LEDGER_CANDIDATES_PAIRS_LEFT),
        .pairs_open = query_int(q, COL_LEDGER_CANDIDATES_OPEN_PAIRS),
        .pairs_of_owner = query_int(q, COL_LEDGER_CANDIDATES_OWN_PAIRS),
        .pairs_unproven = query_int(q, COL_LEDGER_CANDIDATES_UNPROVEN_PAIRS),
        .games = query_int(q, COL_LEDGER_CANDIDATES_GAMES),
        .llr = query_real(q, COL_LEDGER_CANDIDATES_LLR),
        .elo0 = query_real(q, COL_LEDGER_CANDIDATES_ELO0),
        .game_seconds = scale * tc_game_seconds(&tc, speed),
        .tc_ratio = tc_ratio(&tc, threads),
        .cores = (int)query_int(q, COL_LEDGER_CANDIDATES_COUNTED_CORES),
        .game_mib = game_memory_mib(&memory),
        .barred = query_int(q, COL_LEDGER_CANDIDATES_HAS_FAILED) != 0,
        .was_last = query_int(q, COL_LEDGER_CANDIDATES_WAS_LAST) != 0,
    };
    return true;
}

// The machine that claims, and the other machines.
typedef struct Claimant {
    SchedWorker worker;
    char owner[64];
} Claimant;

// A machine cannot offer more cores than it registered.
static Claimant claimant_of(Turn *turn, const Claim *claim) {
    Claimant out = {.worker = {.memory_mib = claim->memory_mib}};
    Query q = query(turn->db, SQL_LEDGER_CLAIMANT, "id", claim->worker, turn->now - ACTIVE_S);
    if (query_step(&q)) {
        snprintf(out.owner, sizeof out.owner, "%s", query_text(&q, COL_LEDGER_CLAIMANT_OWNER));
        out.worker.cores = (int)query_int(&q, COL_LEDGER_CLAIMANT_CORES);
        out.worker.trust = query_int(&q, COL_LEDGER_CLAIMANT_HAS_RECORD)    ? TRUST_RECORD
                           : query_int(&q, COL_LEDGER_CLAIMANT_HAS_COUNTED) ? TRUST_COUNTED
                                                                            : TRUST_NONE;
        out.worker.tasks = (int)query_int(&q, COL_LEDGER_CLAIMANT_OPEN_TASKS);
        out.worker.others_cores = (int)query_int(&q, COL_LEDGER_CLAIMANT_LARGEST_OTHER);
        out.worker.proven_cores = (int)query_int(&q, COL_LEDGER_CLAIMANT_LARGEST_PROVEN);
        query_end(&q);
    }
    return out;
}

static int read_candidates(Turn *turn, const Claim *claim, const Claimant *claimant,
                           Candidate *out) {
    int count = 0;
    for (Query q =
             query_named(turn->db, SQL_LEDGER_CANDIDATES,
                         json_pack("{s:I, s:f, s:i, s:s, s:i}", "worker", (json_int_t)claim->worker,
                                   "now", turn->now, "cores", claimant->worker.cores, "owner",
                                   claimant->owner, "retry_s", FAILURE_RETRY_S));
         query_step(&q);)
        if (count < CANDIDATES_MAX)
            count += read_candidate(claim, &q, &out[count]);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            if (out[j].test.cores > 0 && out[i].author == out[j].author)
                out[i].test.author_active_tests++;
    return count;
}

static SchedChoice choose(Turn *turn, const Claim *claim, const Claimant *claimant,
                          Candidate *chosen) {
    Candidate *candidates scope(free_ptr) = xmalloc(CANDIDATES_MAX * sizeof *candidates);
    int count = read_candidates(turn, claim, claimant, candidates);
    SchedTest *tests scope(free_ptr) = xcalloc((size_t)count, sizeof *tests);
    for (int i = 0; i < count; i++)
        tests[i] = candidates[i].test;
    double seconds = (double)setting_whole(turn->db, SETTING_TASK_SECONDS);
    SchedChoice choice = scheduler_choose(tests, count, &claimant->worker, seconds);
    for (int i = 0; i < count; i++)
        if (candidates[i].test.id == choice.test)
            *chosen = candidates[i];
    return choice;
}

// ---- dealing ------------------------------------------------------------------------------------

// Returned pairs are dealt first, then new pairs. Pairs that an owner started and did not report go
// to another owner if one is active. So no owner can play the same games again because they went
// badly.
static bool deal(Turn *turn, const Claimant *claimant, SchedChoice *choice, int64_t *first,
                 Error *err) {
    const char *not_of = claimant->worker.others_cores > 0 ? claimant->owner : "";
    int64_t taken = ranges_take(turn, choice->test, choice->pairs, not_of, first, err);
    if (taken > 0)
        choice->pairs = taken;
    if (taken)
        return taken > 0;
    *first = db_int(turn->db, SQL_LEDGER_NEXT_PAIR, -1, "ii", choice->test, choice->pairs);
    return *first >= 0 ||
           error_set(err, 503, "unavailable", "the database cannot be used at the moment");
}

static bool test_note_start(Turn *turn, int64_t test, int64_t worker, Error *err) {
    if (!db_run(turn->db, err, SQL_LEDGER_TEST_START, "id", test, turn->now))
        return false;
    if (db_changes(turn->db))
        ledger_event(turn, "started", 0, worker, test, "the first worker took a task");
    return true;
}

static bool add_task(Turn *turn, const Claim *claim, const SchedWorker *worker,
                     const Candidate *chosen, const SchedChoice *choice, int64_t first,
                     Error *err) {
    double batch_s =
        LEASE_PLAY_S + BATCH_PATIENCE * chosen->slowness *
                           fmax(LEASE_PLAY_S, scheduler_batch_seconds(&chosen->test, worker));
    return db_write(turn->db, err, SQL_LEDGER_TASK_ADD,
                    json_pack("{s:I, s:I, s:I, s:I, s:i, s:f, s:f, s:f, s:i, s:f, s:f}", "test",
                              (json_int_t)choice->test, "worker", (json_int_t)claim->worker,
                              "first_pair", (json_int_t)first, "pair_count",
                              (json_int_t)choice->pairs, "cores", worker->cores, "lease_until",
                              turn->now + LEASE_FIRST_S, "lease_s", chosen->lease_s, "created",
                              turn->now, "counted_cores", scheduler_counted_cores(worker),
                              "batch_s", batch_s, "batch_until",
                              turn->now + PREPARATION_S + batch_s));
}

int64_t ledger_claim(Turn *turn, const Claim *claim, Error *err) {
    int64_t task = claimed_before(turn, claim, err), first;
    Candidate chosen = {.lease_s = LEASE_PLAY_S};
    if (task || !db_int(turn->db, SQL_LEDGER_ANY_ACTIVE, 0, ""))
        return task;
    Claimant claimant = claimant_of(turn, claim);
    SchedChoice choice = choose(turn, claim, &claimant, &chosen);
    if (!choice.test)
        return 0;
    if (!deal(turn, &claimant, &choice, &first, err) ||
        !test_note_start(turn, choice.test, claim->worker, err) ||
        !note_speed(turn, claim, chosen.engine, err) ||
        !add_task(turn, claim, &claimant.worker, &chosen, &choice, first, err))
        return -1;
    task = db_last_id(turn->db);
    return remember(turn, claim, task, err) ? task : -1;
}

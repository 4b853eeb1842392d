// Claims: reads the rows for the scheduler, and makes a task of its choice. See ledger.h.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/game_memory.h"
#include "server/common/json_member.h"
#include "server/common/time_control.h"
#include "server/db/settings.h"
#include "server/ledger/book_use.h"
#include "server/ledger/game_time.h"
#include "server/ledger/ranges.h"
#include "server/ledger/rerun.h"
#include "server/ledger/task.h"
#include "sql/core.h"
#include "sql/ledger.h"

// A batch may take this many times its expected time, and no less than a lease. For a machine that
// has not measured its speed, the slowest machine for which clocks are scaled is assumed. Before
// the first batch, the machine also fetches, builds, runs the bench and measures its speed.
static const double BATCH_PATIENCE = 3;
enum { PREPARATION_S = LEASE_FIRST_S + LEASE_FETCH_S + LEASE_BUILD_S + 2 * LEASE_BENCH_S };
enum { CANDIDATES_MAX = 1000 };

typedef struct Candidate {
    SchedTest test;
    double lease_s;
    double slowness; // how many times slower than assumed the machine may be
    int64_t author;
    int64_t next_pair, openings;
    int64_t fresh_left; // pairs that were never dealt and may be
    bool two_sides, repeats;
    bool has_ended; // only reruns are left of the test
    Rerun rerun;    // what it gets of the test, if that is no new work
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
    SqlLedgerWorkerOpenTasksRows rows scope(sql_rows_end) =
        sql_ledger_worker_open_tasks(turn->db, claim->worker);
    while (sql_ledger_worker_open_tasks_next(&rows))
        if (count < AT_ONCE && !still_held(claim, rows.row.id))
            ids[count++] = rows.row.id;
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
    SqlIdempotencyGet row scope(sql_row_free) = {0};
    if (!sql_idempotency_get(turn->db, &row, .subject = subject, .key = claim->key))
        return 0;
    if (strcmp(row.request_hash, claim->request_hash) != 0) {
        error_set(err, 409, "idempotency_conflict",
                  "this Idempotency-Key was used for another claim");
        return -1;
    }
    return strtoll(row.body, NULL, 10);
}

static bool remember(Turn *turn, const Claim *claim, int64_t task, Error *err) {
    char subject[40], body[24];
    snprintf(subject, sizeof subject, "worker:%lld", (long long)claim->worker);
    snprintf(body, sizeof body, "%lld", (long long)task);
    return sql_idempotency_put(turn->db, err, .subject = subject, .key = claim->key,
                               .request_hash = claim->request_hash, .status = 200, .body = body,
                               .created = turn->now);
}

// The speed of a machine is the speed of its first engine, until it gets a task of another engine.
static bool note_speed(Turn *turn, const Claim *claim, const char *engine, Error *err) {
    void *first = json_object_iter(claim->speeds);
    double speed = engine  ? member_real(claim->speeds, engine)
                   : first ? json_number_value(json_object_iter_value(first))
                           : 0;
    return speed <= 0 ||
           sql_ledger_worker_speed(turn->db, err, .worker = claim->worker, .speed = speed);
}

double ledger_rest_s(Turn *turn, int64_t worker) {
    return ceil(sql_ledger_worker_rest(turn->db, 0, .worker = worker, .now = turn->now));
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
    return sql_ledger_worker_offer(turn->db, err, .worker = claim->worker, .cores = claim->cores,
                                   .now = turn->now) &&
           note_speed(turn, claim, NULL, err) && release_forgotten(turn, claim, err) &&
           begun_claims(turn, claim->worker, err);
}

// ---- candidates ---------------------------------------------------------------------------------

static int64_t mib_of(int64_t bytes) {
    return bytes >> 20;
}

static GameMemory memory_of(const SqlLedgerCandidates *from) {
    return (GameMemory){
        .threads = {(int)from->new_threads, from->two_sides ? (int)from->base_threads : 0},
        .hash_mib = {game_hash_mib(from->new_options), game_hash_mib(from->base_options)},
        .nets_mib = {mib_of(from->new_files_bytes), mib_of(from->base_files_bytes)}};
}

static bool plays_unit(const Claim *claim, WorkloadUnit unit) {
    size_t i;
    json_t *name;
    json_array_foreach (claim->units, i, name)
        if (strcmp(json_string_value(name), workload_unit_name(unit)) == 0)
            return true;
    return !claim->units && unit == UNIT_PAIR;
}

// The machine that claims, and the other machines.
typedef struct Claimant {
    SchedWorker worker;
    char owner[64], network[64];
    OwnerLevel level, own_level; // with the click of a maintainer, and without
    int64_t voucher;             // that maintainer; 0: none
    bool is_private;             // trust is: all owners are believed, authors too
} Claimant;

static OwnerLevel level_in(const Claimant *claimant, int64_t author) {
    return claimant->voucher == author ? claimant->own_level : claimant->level;
}

static bool is_author(const Claimant *claimant, int64_t author) {
    char owner[32];
    snprintf(owner, sizeof owner, "user %lld", (long long)author);
    return !claimant->is_private && strcmp(owner, claimant->owner) == 0;
}

// A book that must not be played twice leaves the openings that were never dealt, and those that
// returned. A machine whose games do not count gets none of them: they would be lost.
static void limit_by_book(const SqlLedgerCandidates *from, const Workload *workload,
                          Candidate *out) {
    bool repeats = from->repeats && workload->unit == UNIT_PAIR;
    int64_t limit = book_limit(repeats, from->openings, from->batch_pairs);
    out->repeats = repeats;
    out->next_pair = from->next_pair;
    out->openings = repeats || workload->unit != UNIT_PAIR ? INT64_MAX : from->openings;
    out->fresh_left = limit < 0 ? INT64_MAX : limit - from->next_pair;
    if (limit >= 0 && out->test.pairs_left > out->fresh_left + from->returned_pairs)
        out->test.pairs_left = out->fresh_left + from->returned_pairs;
    out->test.barred |= repeats && from->is_excluded;
}

// An older worker would play nonsense for a unit that it does not know.
static bool candidate_of(const Claim *claim, const Claimant *claimant,
                         const SqlLedgerCandidates *from, Candidate *out) {
    TimeControl tc[2];
    Error err;
    const Workload *workload = workload_named(from->workload);
    if (!workload || !plays_unit(claim, workload->unit))
        return false;
    if (!tc_parse(from->new_tc, &tc[0], &err) || !tc_parse(from->base_tc, &tc[1], &err))
        return false; // no such test is accepted; if one exists, no machine gets it
    GameMemory memory = memory_of(from);
    int cores = game_cores(&memory);
    GameTime play = game_time(claim, from, tc, cores);
    *out = (Candidate){.author = from->author_id,
                       .two_sides = from->two_sides,
                       .has_ended = from->has_ended,
                       .slowness = play.slowness,
                       .lease_s = fmax(LEASE_PLAY_S, 2 * play.longest_s)};
    snprintf(out->engine, sizeof out->engine, "%s", from->name);
    out->test = (SchedTest){
        .id = from->id,
        .priority = from->priority,
        .threads = cores,
        .batch_pairs = (int)from->batch_pairs,
        .pairs_left = from->pairs_left,
        .pairs_open = from->open_pairs,
        .pairs_of_owner = from->own_pairs,
        .pairs_waiting = from->own_waiting,
        .counted = {{[LEVEL_UNPROVEN] = from->units_unproven,
                     [LEVEL_RECORDED] = from->units_recorded,
                     [LEVEL_VOUCHED] =
                         from->units_counted - from->units_unproven - from->units_recorded}},
        .held = {{[LEVEL_UNPROVEN] = from->held_unproven, [LEVEL_RECORDED] = from->held_recorded}},
        .level = level_in(claimant, from->author_id),
        .is_author = is_author(claimant, from->author_id),
        .pairs_author = from->units_author,
        .games = 2 * from->units_counted,
        .promise = from->promise,
        .game_seconds = play.game_s,
        .tc_ratio = play.ratio,
        .cores = (int)from->counted_cores,
        .game_mib = game_memory_mib(&memory),
        .barred = from->has_failed || from->is_misfit,
        .was_last = from->was_last,
    };
    limit_by_book(from, workload, out);
    return true;
}

// A machine cannot offer more cores than it registered.
static Claimant claimant_of(Turn *turn, const Claim *claim) {
    Claimant out = {.worker = {.memory_mib = claim->memory_mib}};
    SqlLedgerClaimant found scope(sql_row_free) = {0};
    if (sql_ledger_claimant(turn->db, &found, .worker = claim->worker,
                            .since = turn->now - ACTIVE_S)) {
        snprintf(out.owner, sizeof out.owner, "%s", found.owner);
        snprintf(out.network, sizeof out.network, "%s", found.network);
        out.level = (OwnerLevel)found.level;
        out.own_level = (OwnerLevel)found.own_level;
        out.voucher = found.voucher;
        out.worker.cores = (int)found.cores;
        out.worker.trust = trust_of(found.has_counted, out.level);
        out.worker.tasks = (int)found.open_tasks;
        out.worker.others_cores = (int)found.largest_other;
        out.worker.vouched_cores = (int)found.largest_vouched;
        out.is_private = found.private;
    }
    return out;
}

static int read_candidates(Turn *turn, const Claim *claim, const Claimant *claimant,
                           Candidate *out) {
    int count = 0;
    SqlLedgerCandidatesRows rows scope(sql_rows_end) = sql_ledger_candidates(
        turn->db, .worker = claim->worker, .now = turn->now, .cores = claimant->worker.cores,
        .owner = claimant->owner, .retry_s = FAILURE_RETRY_S, .rerun_since = rerun_since(turn));
    while (count < CANDIDATES_MAX && sql_ledger_candidates_next(&rows))
        count += candidate_of(claim, claimant, &rows.row, &out[count]);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            if (out[j].test.cores > 0 && out[i].author == out[j].author)
                out[i].test.author_active_tests++;
    return count;
}

// A batch that the machine can play again, of the tests in their order: first of those that are
// under way. What is found there can still change a verdict, and a test that has ended may leave
// more to be checked than there are claims for it.
static SchedChoice choose_rerun(Turn *turn, const Claim *claim, const Claimant *claimant,
                                const Candidate *candidates, int count, Candidate *chosen) {
    RerunAsk ask = {.worker = claim->worker,
                    .owner = claimant->owner,
                    .alone = claimant->worker.others_cores == 0};
    for (int i = 0; i < 2 * count; i++) {
        *chosen = candidates[i % count];
        ask.test = chosen->test.id;
        ask.level = chosen->test.level;
        if (chosen->has_ended == (i >= count) && chosen->repeats &&
            scheduler_can_play(&chosen->test, &claimant->worker))
            chosen->rerun = rerun_find(turn, &ask);
        if (chosen->rerun.batch)
            return (SchedChoice){ask.test, chosen->test.batch_pairs};
    }
    return (SchedChoice){0};
}

static SchedChoice choose_new(Turn *turn, const Claimant *claimant, const Candidate *candidates,
                              int count, Candidate *chosen) {
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

static SchedChoice choose(Turn *turn, const Claim *claim, const Claimant *claimant,
                          Candidate *chosen) {
    Candidate *candidates scope(free_ptr) = xmalloc(CANDIDATES_MAX * sizeof *candidates);
    int count = read_candidates(turn, claim, claimant, candidates);
    SchedChoice choice = {0};
    if (!rerun_goes_first(turn))
        choice = choose_new(turn, claimant, candidates, count, chosen);
    if (!choice.test)
        choice = choose_rerun(turn, claim, claimant, candidates, count, chosen);
    return choice.test ? choice : choose_new(turn, claimant, candidates, count, chosen);
}

// ---- dealing ------------------------------------------------------------------------------------

static void note_second_pass(Turn *turn, const Candidate *chosen, int64_t pairs) {
    if (chosen->next_pair <= chosen->openings && chosen->openings < chosen->next_pair + pairs)
        ledger_event(turn, "wrapped", 0, 0, chosen->test.id,
                     "all %lld openings of the book were dealt: from here on they are dealt again",
                     (long long)chosen->openings);
}

// Returned pairs are dealt first, then new pairs. Pairs that an owner started and did not report go
// to another owner if one is active. So no owner can play the same games again because they went
// badly. Games that repeat are the same from each machine, so any owner may finish the book.
static bool deal(Turn *turn, const Claimant *claimant, const Candidate *chosen, SchedChoice *choice,
                 int64_t *first, Error *err) {
    *first = chosen->rerun.first_pair;
    if (chosen->rerun.batch)
        return true;
    const char *not_of =
        !chosen->repeats && claimant->worker.others_cores > 0 ? claimant->owner : "";
    int64_t taken = ranges_take(turn, choice->test, choice->pairs, not_of, first, err);
    if (taken > 0)
        choice->pairs = taken;
    if (taken)
        return taken > 0;
    if (choice->pairs > chosen->fresh_left)
        choice->pairs = chosen->fresh_left;
    note_second_pass(turn, chosen, choice->pairs);
    *first = sql_ledger_next_pair(turn->db, -1, .test = choice->test, .pairs = choice->pairs);
    return *first >= 0 ||
           error_set(err, 503, "unavailable", "the database cannot be used at the moment");
}

static bool test_note_start(Turn *turn, int64_t test, int64_t worker, Error *err) {
    if (!sql_ledger_test_start(turn->db, err, .test = test, .now = turn->now))
        return false;
    if (db_changes(turn->db))
        ledger_event(turn, "started", 0, worker, test, "the first worker took a task");
    return true;
}

static bool add_task(Turn *turn, const Claim *claim, const Claimant *claimant,
                     const Candidate *chosen, const SchedChoice *choice, int64_t first,
                     Error *err) {
    const SchedWorker *worker = &claimant->worker;
    scope(test_count_release) TestCount count = {0};
    if (!test_count_load(turn, choice->test, 0, &count, err))
        return false;
    const Count *c = &count.count;
    json_auto_t *told = c->workload->told(&c->test, c->state, first, choice->pairs);
    char *told_text scope(free_ptr) = count_text(told);
    double expected_s = scheduler_batch_seconds(&chosen->test, worker);
    double batch_s = fmax(LEASE_PLAY_S, BATCH_PATIENCE * chosen->slowness * expected_s);
    return sql_ledger_task_add(
        turn->db, err, .test = choice->test, .worker = claim->worker, .owner = claimant->owner,
        .network = claimant->network, .level = chosen->test.level, .first_pair = first,
        .pair_count = choice->pairs, .side = "new", .against = chosen->two_sides ? "base" : NULL,
        .told = told_text, .cores = worker->cores, .lease_until = turn->now + LEASE_FIRST_S,
        .lease_s = chosen->lease_s, .now = turn->now,
        .counted_cores = scheduler_counted_cores(worker), .batch_s = batch_s,
        .batch_until = turn->now + PREPARATION_S + batch_s, .expected_s = expected_s,
        .rerun_of = chosen->rerun.batch);
}

int64_t ledger_claim(Turn *turn, const Claim *claim, Error *err) {
    int64_t task = claimed_before(turn, claim, err), first;
    Candidate chosen = {.lease_s = LEASE_PLAY_S, .openings = INT64_MAX, .fresh_left = INT64_MAX};
    if (task || !sql_ledger_any_dealing(turn->db, rerun_since(turn)))
        return task;
    Claimant claimant = claimant_of(turn, claim);
    SchedChoice choice = choose(turn, claim, &claimant, &chosen);
    if (!choice.test)
        return 0;
    if (!deal(turn, &claimant, &chosen, &choice, &first, err) ||
        !test_note_start(turn, choice.test, claim->worker, err) ||
        !note_speed(turn, claim, chosen.engine, err) ||
        !add_task(turn, claim, &claimant, &chosen, &choice, first, err))
        return -1;
    task = db_last_id(turn->db);
    return remember(turn, claim, task, err) ? task : -1;
}

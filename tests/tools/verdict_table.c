// verdict_table [SEED [TESTS [ROW]]]: whether the ledger's verdicts have the errors that a test
// states. ROW, counted from 1 over both tables: that row alone, with the same random numbers.
//
// First, whole tests at the functions of the ledger, with a real database and a clock of their own:
// {0, 10} with batches of 16 pairs, in both models, of a patch that is worth elo0 and of one that
// is worth elo1. 200 uneven machines claim, play and post. Some die, some come back late, some post
// twice, and games that the patch wins are 30 % shorter than others. The log of each test, in the
// order of counting, must give the library's verdict, at its last batch and not before. The share
// of tests that pass must be that of bare tests of the library, within three standard errors.
//
// Second, worthless patches by <0, 2> where unproven owners play a twentieth of the pairs and slant
// them: in favour of the patch by some normalized Elo, always a win, or a win whenever the proven
// pairs stand well. At most 7 % may pass (sprt_state.h).
//
// Ends with 1 if one of these does not hold.
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/common/log.h"
#include "server/ledger/count.h"
#include "server/ledger/task.h"
#include "sprt/pair_source.h"
#include "sql/ledger.h"
#include "tests/kit/ledger_kit.h"

enum { TESTS = 1000, MACHINES = 200, BATCH = 16, TEST_GAP_S = 86400, FIRST_TEST = 2 };
enum { HEARTBEAT_S = 200, RETRY_S = 60, GONE_S = 7200 };
static const double ALPHA = 0.05, DRAW_SHARE = 0.52, BOTH_WON = 0.5;
static const double GAME_S = 26, LENGTH_SPREAD = 0.35, SPEED_SPREAD = 0.2, WIN_LENGTH = 0.7;
// Of finished batches: the machine dies instead, posts them hours later, posts them twice.
static const double DIES = 0.02, LATE = 0.02, TWICE = 0.05;

static PairSource source;
static LedgerKit kit;

static bool chance(double probability) {
    return pair_source_uniform(&source) < probability;
}

// The outcomes of the pairs of a batch as digits, in random order. Returns how long it takes, of
// games one after the other.
static double play(char outcomes[BATCH + 1]) {
    double counts[5] = {0}, seconds = 0;
    int pairs = 0;
    pair_source_play(&source, BATCH, counts);
    for (int outcome = 0; outcome < 5; outcome++)
        for (int i = 0; i < (int)counts[outcome]; i++) {
            int wins = outcome > 2 ? outcome - 2 : outcome == 2 && chance(BOTH_WON);
            outcomes[pairs++] = (char)('0' + outcome);
            for (int game = 0; game < 2; game++)
                seconds += GAME_S * exp(LENGTH_SPREAD * pair_source_normal(&source)) *
                           (game < wins ? WIN_LENGTH : 1);
        }
    outcomes[pairs] = 0;
    return seconds;
}

// ---- machines -----------------------------------------------------------------------------------

typedef struct Machine {
    int64_t task, seq; // task 0: none
    int64_t cores;
    double speed, next, done; // when it does something next, and when its batch is played
    bool late;
    char outcomes[BATCH + 1];
} Machine;
static Machine machines[MACHINES];
static struct { int64_t died, late, twice, batches; } seen;

static void begin_batch(Machine *m) {
    m->done = kit.turn.now + play(m->outcomes) / m->speed;
    m->next = fmin(m->done, kit.turn.now + HEARTBEAT_S);
}

static void go_away(Machine *m) {
    m->task = 0;
    m->next = kit.turn.now + GONE_S * (0.5 + pair_source_uniform(&source));
}

static void heartbeat(Machine *m, int64_t worker) {
    TaskReply reply;
    int64_t plies = (int64_t)kit.turn.now;
    if (!kit_heartbeat(&kit, m->task, worker, "play", plies, (m->seq + 1) * BATCH, &reply) ||
        !reply.continues)
        m->task = 0;
}

static void claim(Machine *m, int64_t worker) {
    m->task = kit_claim(&kit, worker, (int)m->cores, 0);
    m->seq = 0;
    m->late = false;
    m->next = kit.turn.now + RETRY_S * (0.5 + pair_source_uniform(&source));
    if (m->task <= 0) {
        m->task = 0;
        return;
    }
    heartbeat(m, worker);
    begin_batch(m);
}

static void post(Machine *m, int64_t worker) {
    BatchReply reply, again;
    bool good = kit_post(&kit, m->task, worker, m->seq, m->outcomes, &reply);
    if (good && chance(TWICE)) {
        seen.twice++;
        if (!kit_post(&kit, m->task, worker, m->seq, m->outcomes, &again) || !again.repeat)
            fatal("a batch that was posted twice: %s", kit.err.message);
    }
    m->seq++;
    if (good && reply.task.continues && !m->late) {
        begin_batch(m);
        return;
    }
    m->task = 0;
    m->next = kit.turn.now;
}

static void act(Machine *m, int64_t worker) {
    if (!m->task)
        claim(m, worker);
    else if (kit.turn.now < m->done) {
        heartbeat(m, worker);
        m->next = m->task ? fmin(m->done, kit.turn.now + HEARTBEAT_S) : kit.turn.now;
    } else if (!m->late && chance(DIES)) {
        seen.died++;
        go_away(m);
    } else if (!m->late && chance(LATE)) {
        seen.late++;
        m->late = true;
        m->next = kit.turn.now + GONE_S * (0.5 + pair_source_uniform(&source));
    } else
        post(m, worker);
}

static int first_machine(void) {
    int first = 0;
    for (int i = 1; i < MACHINES; i++)
        if (machines[i].next < machines[first].next)
            first = i;
    return first;
}

static void machines_begin(void) {
    for (int i = 0; i < MACHINES; i++) {
        int cores = 1 << (int)(5 * pair_source_uniform(&source));
        machines[i] = (Machine){.cores = cores,
                                .speed = cores * exp(SPEED_SPREAD * pair_source_normal(&source)),
                                .next = kit.turn.now + pair_source_uniform(&source)};
    }
}

// ---- a test -------------------------------------------------------------------------------------

typedef struct Row {
    SprtModel model;
    double elo; // that the patch is worth, in the unit of the model
} Row;

// Whether the log gives the verdict at its end and not before.
static bool log_gives(int64_t test, const SprtBounds *bounds, const char *result) {
    SprtState state = {0};
    double counts[5] = {0};
    SqlLedgerCheckBatchesRows rows scope(sql_rows_end) = sql_ledger_check_batches(kit.db, test);
    while (sql_ledger_check_batches_next(&rows)) {
        if (!rows.row.has_position)
            continue;
        json_auto_t *played = json_loads(rows.row.result, 0, NULL);
        if (state.verdict != SPRT_OPEN)
            return false;
        for (const char *p = member_text(played, "outcomes"); *p; p++)
            counts[*p - '0']++;
        sprt_update(&state, bounds, BATCH, counts);
        seen.batches++;
    }
    return strcmp(result, state.verdict == SPRT_ACCEPTED   ? "accepted"
                          : state.verdict == SPRT_REJECTED ? "rejected"
                                                           : "") == 0;
}

// Plays the test; whether it passed.
static bool test_play(int64_t test, const SprtBounds *bounds, bool *exact) {
    kit.turn.now += TEST_GAP_S;
    kit_activate(&kit, test);
    machines_begin();
    for (;;) {
        char *state scope(free_ptr) = sql_ledger_test_state(kit.db, test);
        if (strcmp(state, "finished") == 0)
            break;
        int i = first_machine();
        kit.turn.now = fmax(kit.turn.now, machines[i].next);
        ledger_expire(&kit.turn);
        ledger_count_waiting(&kit.turn);
        act(&machines[i], i + 1);
    }
    char *result scope(free_ptr) =
        kit_text(&kit, "SELECT result FROM tests WHERE id = %lld", (long long)test);
    *exact &= log_gives(test, bounds, result);
    return strcmp(result, "accepted") == 0;
}

static bool library_passes(const SprtBounds *bounds) {
    SprtState state = {0};
    double counts[5] = {0};
    while (state.verdict == SPRT_OPEN) {
        pair_source_play(&source, BATCH, counts);
        sprt_update(&state, bounds, BATCH, counts);
    }
    return state.verdict == SPRT_ACCEPTED;
}

// ---- the first table ----------------------------------------------------------------------------

static void installation_begin(const Row *row, int tests) {
    bool logistic = row->model == SPRT_LOGISTIC;
    if (!kit_open(&kit))
        fatal("no database");
    kit_sql(&kit, "DELETE FROM sides");
    kit_sql(&kit, "UPDATE books SET openings = 1000000000");
    kit_machines(&kit, 5, MACHINES);
    kit_sql(&kit, "UPDATE workers SET cores = 16");
    kit_sql(&kit,
            "WITH RECURSIVE n (value) AS (SELECT %d UNION ALL SELECT value + 1 FROM n WHERE value "
            "< %d) "
            "INSERT INTO tests (id, engine_id, author_id, title, created, workload, parameters, "
            "book_id, seed, variant, adjudication, batch_pairs, pairs_max, state) SELECT value, 1, "
            "1, 'a test', 1, 'sprt', json_object('alpha', 0.05, 'beta', 0.05, 'elo0', 0.0, 'elo1', "
            "10.0, 'model', '%s'), 1, 42, 'standard', '{}', %d, 400000, 'pending' FROM n",
            FIRST_TEST, FIRST_TEST + tests - 1, logistic ? "logistic" : "normalized", BATCH);
    kit_sql(&kit,
            "INSERT INTO sides (test_id, side, engine_id, sha, tc, threads, margin_ms) "
            "SELECT t.id, s.value, 1, '1111111111111111111111111111111111111111', '10+0.1', 1, 200 "
            "FROM tests t, json_each('[\"new\", \"base\"]') s WHERE t.id >= %d",
            FIRST_TEST);
}

static bool row_print(const Row *row, int tests) {
    SprtBounds bounds = {row->model, 0, 10, ALPHA, ALPHA};
    int passed = 0, bare = 0;
    bool exact = true;
    memset(&seen, 0, sizeof seen);
    double nelo = row->elo;
    if (row->model == SPRT_LOGISTIC) { // the law is tilted in normalized Elo
        pair_source_set(&source, DRAW_SHARE, 1);
        nelo = row->elo / pair_source_truth(&source, SPRT_LOGISTIC);
    }
    if (!pair_source_set(&source, DRAW_SHARE, nelo))
        fatal("no such law");
    installation_begin(row, tests);
    for (int i = 0; i < tests; i++) {
        passed += test_play(FIRST_TEST + i, &bounds, &exact);
        bare += library_passes(&bounds);
    }
    int differences = kit_check(&kit);
    kit_close(&kit);
    double p = (double)passed / tests, q = (double)bare / tests, mean = (p + q) / 2;
    double error = sqrt(2 * fmax(mean * (1 - mean), 1.0 / tests) / tests);
    printf("%-10s %4.0f %7.2f %% %7.2f %% %+6.2f +- %.2f %7.0f %6" PRId64 " %6" PRId64 " %6" PRId64
           "  %s\n",
           row->model == SPRT_LOGISTIC ? "logistic" : "normalized", row->elo, 100 * p, 100 * q,
           100 * (p - q), 100 * error, (double)seen.batches / tests, seen.died, seen.late,
           seen.twice, exact && !differences ? "yes" : "NO");
    fflush(stdout);
    return exact && !differences && fabs(p - q) <= 3 * error;
}

// ---- the second table ---------------------------------------------------------------------------

typedef enum { SLANTED, ALWAYS, CUNNING } Lie;

typedef struct Liars {
    const char *name;
    Lie lie;
    double nelo;
} Liars;

static void count_batch(Count *count, OwnerLevel level, const char *outcomes) {
    json_auto_t *result = kit_result(outcomes);
    count_add(count,
              &(WorkloadBatch){
                  .result = result, .owner = "user 1", .level = level, .sign = 1, .units = BATCH});
}

static void lie(const Liars *liars, const Count *count, const PairSource *slanted,
                char outcomes[BATCH + 1]) {
    double points = member_real(json_object_get(count->state, "sprt"), "llr");
    PairSource honest = source;
    if (liars->lie == ALWAYS || (liars->lie == CUNNING && points > 0)) {
        memset(outcomes, '4', BATCH);
        outcomes[BATCH] = 0;
        return;
    }
    uint64_t random = source.random;
    source = *slanted;
    source.random = random;
    play(outcomes);
    random = source.random;
    source = honest;
    source.random = random;
}

static bool liars_pass(const Liars *liars, const PairSource *slanted) {
    Count count;
    Error err;
    char outcomes[BATCH + 1];
    const char *verdict = NULL;
    if (!count_init(&count, "sprt",
                    "{\"alpha\":0.05,\"beta\":0.05,\"elo0\":0.0,\"elo1\":2.0,\"model\":"
                    "\"normalized\"}",
                    "{}", &err))
        fatal("%s", err.message);
    count.test.batch_units = BATCH;
    count.test.units_max = 100000000;
    for (int64_t batch = 0; !verdict; batch++) {
        bool unproven = batch % 20 == 19;
        if (unproven)
            lie(liars, &count, slanted, outcomes);
        else
            play(outcomes);
        count_batch(&count, unproven ? LEVEL_UNPROVEN : LEVEL_VOUCHED, outcomes);
        verdict = count_judge(&count, false);
    }
    bool passed = strcmp(verdict, "accepted") == 0;
    count_release(&count);
    return passed;
}

static bool liars_print(const Liars *liars, int tests) {
    static PairSource slanted;
    int passed = 0;
    if (!pair_source_set(&source, DRAW_SHARE, 0))
        fatal("no such law");
    slanted = source;
    if (!pair_source_set(&slanted, DRAW_SHARE, liars->nelo))
        fatal("no such law");
    for (int i = 0; i < tests; i++)
        passed += liars_pass(liars, &slanted);
    double p = (double)passed / tests;
    printf("%-44s %7.2f %% +- %.2f\n", liars->name, 100 * p, 100 * sqrt(p * (1 - p) / tests));
    fflush(stdout);
    return p <= 0.07;
}

int main(int argc, char **argv) {
    static const Row rows[] = {
        {SPRT_LOGISTIC, 0}, {SPRT_LOGISTIC, 10}, {SPRT_NORMALIZED, 0}, {SPRT_NORMALIZED, 10}};
    static const Liars liars[] = {{"unproven owners are honest", SLANTED, 0},
                                  {"they add 20 nElo", SLANTED, 20},
                                  {"they add 100 nElo", SLANTED, 100},
                                  {"they win each game", ALWAYS, 0},
                                  {"they win each game while the LLR is above 0", CUNNING, 0}};
    enum { ROWS = sizeof rows / sizeof *rows, LIARS = sizeof liars / sizeof *liars };
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int tests = argc > 2 ? (int)strtol(argv[2], NULL, 10) : TESTS;
    int only = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 0;
    bool fine = true;
    printf("%d tests a row, seed %" PRIu64 "\n\n%-10s %4s %9s %9s %15s %7s %6s %6s %6s  %s\n",
           tests, seed, "{0, 10}", "Elo", "ledger", "library", "difference", "batches", "died",
           "late", "twice", "exact");
    for (int row = 1; row <= ROWS + LIARS; row++) {
        if (row == ROWS + 1)
            printf("\n<0, 2>, a patch worth 0, at most 7 %% may pass\n");
        if (only && row != only)
            continue;
        pair_source_seed(&source, seed + ((uint64_t)row << 32));
        fine &= row <= ROWS ? row_print(&rows[row - 1], tests)
                            : liars_print(&liars[row - ROWS - 1], tests);
    }
    return !fine;
}

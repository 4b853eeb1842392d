// The audit behind `server check`: counts the logged batches of every test again and compares the
// result with the stored totals. It only reads, and repairs nothing. What depends on the order of
// the batches (the LLR, the state of the stop rule, the verdict) is counted by the code that wrote
// it, tally_add(). The totals are sums that SQL makes, so that a fault of that code is found, too.
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "server/ledger/kinds.h"
#include "server/ledger/task.h"

typedef struct Audit {
    FILE *out;
    int differences;
    int64_t test;
} Audit;

// The columns with the totals of a test, as stored and as SQL sums them.
#define TOTAL(name, column)                                                                        \
    { name, COL_LEDGER_CHECK_TESTS_##column, COL_LEDGER_CHECK_TOTALS_##column }
static const struct {
    const char *name;
    int stored, summed;
} totals[] = {
    TOTAL("ptnml0", PTNML0),           TOTAL("ptnml1", PTNML1), TOTAL("ptnml2", PTNML2),
    TOTAL("ptnml3", PTNML3),           TOTAL("ptnml4", PTNML4), TOTAL("wins", WINS),
    TOTAL("losses", LOSSES),           TOTAL("draws", DRAWS),   TOTAL("crashes", CRASHES),
    TOTAL("time_losses", TIME_LOSSES),
};
enum { TOTALS = sizeof totals / sizeof *totals };

// The stored row of a test.
typedef struct Stored {
    int64_t next_pair;
    char result[12], sprt_state[VERDICT_STATE_MAX];
    TestState state;
    TestRule rule;
    bool touched; // batches are or were excluded: the verdict came before or after that
    int64_t totals[TOTALS];
    double llr;
} Stored;

// Where a unit (the pairs of one batch) was found.
enum { SEEN_COUNTED = 1, SEEN_OPEN = 2, SEEN_RETURNED = 4, SEEN_SPENT = 8 };

__attribute__((format(printf, 2, 3))) static void differ(Audit *audit, const char *format, ...) {
    va_list args;
    audit->differences++;
    fprintf(audit->out, "test %lld: ", (long long)audit->test);
    va_start(args, format);
    vfprintf(audit->out, format, args);
    va_end(args);
    fputc('\n', audit->out);
}

static void read_stored(Query *q, Stored *s) {
    s->state = test_state_of(query_text(q, COL_LEDGER_CHECK_TESTS_STATE));
    s->rule = (TestRule){test_kind_of(query_text(q, COL_LEDGER_CHECK_TESTS_KIND)),
                         verdict_bounds(query_text(q, COL_LEDGER_CHECK_TESTS_MODEL),
                                        query_real(q, COL_LEDGER_CHECK_TESTS_ELO0),
                                        query_real(q, COL_LEDGER_CHECK_TESTS_ELO1),
                                        query_real(q, COL_LEDGER_CHECK_TESTS_ALPHA),
                                        query_real(q, COL_LEDGER_CHECK_TESTS_BETA)),
                         query_int(q, COL_LEDGER_CHECK_TESTS_BATCH_PAIRS),
                         query_int(q, COL_LEDGER_CHECK_TESTS_PAIRS_MAX)};
    s->next_pair = query_int(q, COL_LEDGER_CHECK_TESTS_NEXT_PAIR);
    snprintf(s->result, sizeof s->result, "%s", query_text(q, COL_LEDGER_CHECK_TESTS_RESULT));
    for (int i = 0; i < TOTALS; i++)
        s->totals[i] = query_int(q, totals[i].stored);
    s->llr = query_real(q, COL_LEDGER_CHECK_TESTS_LLR);
    snprintf(s->sprt_state, sizeof s->sprt_state, "%s",
             query_text(q, COL_LEDGER_CHECK_TESTS_SPRT_STATE));
    s->touched = query_int(q, COL_LEDGER_CHECK_TESTS_HAS_EXCLUSIONS) != 0;
}

// ---- results ------------------------------------------------------------------------------------

static BatchCounts counts_of(Query *q) {
    return (BatchCounts){query_text(q, COL_LEDGER_CHECK_BATCHES_OUTCOMES),
                         query_int(q, COL_LEDGER_CHECK_BATCHES_WINS),
                         query_int(q, COL_LEDGER_CHECK_BATCHES_LOSSES),
                         query_int(q, COL_LEDGER_CHECK_BATCHES_DRAWS),
                         query_int(q, COL_LEDGER_CHECK_BATCHES_CRASHES),
                         query_int(q, COL_LEDGER_CHECK_BATCHES_TIME_LOSSES)};
}

static void flag(Audit *audit, unsigned char *units, int64_t unit_count, int64_t unit, int seen) {
    if (unit < 0 || unit >= unit_count)
        differ(audit, "unit %lld was never dealt", (long long)unit);
    else if (units[unit] & ~SEEN_SPENT)
        differ(audit, "unit %lld is in two places (%d and %d)", (long long)unit, units[unit], seen);
    else
        units[unit] = (unsigned char)(units[unit] | seen);
}

static void compare_totals(Audit *audit, Db *db, const Stored *stored) {
    for (Query q = query(db, SQL_LEDGER_CHECK_TOTALS, "i", audit->test); query_step(&q);)
        for (int i = 0; i < TOTALS; i++)
            if (stored->totals[i] != query_int(&q, totals[i].summed))
                differ(audit, "%s is %lld, the sum over its batches is %lld", totals[i].name,
                       (long long)stored->totals[i], (long long)query_int(&q, totals[i].summed));
}

static void compare_results(Audit *audit, const Stored *stored, const Tally *tally) {
    const SprtState *state = &tally->sprt;
    char text[VERDICT_STATE_MAX];
    verdict_state_write(state, text);
    if (!numbers_equal(stored->llr, state->llr))
        differ(audit, "LLR is %.17g, counting again gives %.17g", stored->llr, state->llr);
    bool fresh = numbers_equal(state->pairs, 0) && strcmp(stored->sprt_state, "{}") == 0;
    if (!fresh && strcmp(stored->sprt_state, text) != 0)
        differ(audit, "state of the stop rule is %s, counting again gives %s", stored->sprt_state,
               text);
    if (stored->state != TEST_FINISHED || stored->touched ||
        strcmp(stored->result, "stopped") == 0 || strcmp(stored->result, "failed") == 0)
        return;
    const char *result = kinds[stored->rule.kind]->judge(state, &stored->rule, tally_pairs(tally));
    if (!result || strcmp(stored->result, result) != 0)
        differ(audit, "result is \"%s\", counting again gives \"%s\"", stored->result,
               result ? result : "");
}

// Checks that a batch's flags follow from its load, and its exclusion from the table `exclusions`.
static void check_flags(Audit *audit, Query *q) {
    Load load = {.delay = query_real(q, COL_LEDGER_CHECK_BATCHES_LOAD_DELAY),
                 .steal = query_real(q, COL_LEDGER_CHECK_BATCHES_LOAD_STEAL),
                 .swap_mib = query_real(q, COL_LEDGER_CHECK_BATCHES_LOAD_SWAP_MIB),
                 .speed = query_real(q, COL_LEDGER_CHECK_BATCHES_LOAD_SPEED),
                 .speed_before = query_real(q, COL_LEDGER_CHECK_BATCHES_LOAD_SPEED_BEFORE)};
    FlagLimits limits = {query_real(q, COL_LEDGER_CHECK_BATCHES_LIMIT_BUSY),
                         query_real(q, COL_LEDGER_CHECK_BATCHES_LIMIT_SLOW),
                         query_real(q, COL_LEDGER_CHECK_BATCHES_LIMIT_SWAP_MIB)};
    char flags[FLAGS_MAX];
    flags_judge(query_real(q, COL_LEDGER_CHECK_BATCHES_BUSY), &load, &limits, flags);
    if (strcmp(flags, query_text(q, COL_LEDGER_CHECK_BATCHES_FLAGS)) != 0)
        differ(audit, "batch %lld is flagged \"%s\", its load deserves \"%s\"",
               (long long)query_int(q, COL_LEDGER_CHECK_BATCHES_ID),
               query_text(q, COL_LEDGER_CHECK_BATCHES_FLAGS), flags);
    if (query_int(q, COL_LEDGER_CHECK_BATCHES_EXCLUDED) !=
        query_int(q, COL_LEDGER_CHECK_BATCHES_SHOULD_BE_EXCLUDED))
        differ(audit, "batch %lld is %sexcluded, and should %sbe",
               (long long)query_int(q, COL_LEDGER_CHECK_BATCHES_ID),
               query_int(q, COL_LEDGER_CHECK_BATCHES_EXCLUDED) ? "" : "not ",
               query_int(q, COL_LEDGER_CHECK_BATCHES_SHOULD_BE_EXCLUDED) ? "" : "not ");
}

static void replay(Audit *audit, Db *db, const Stored *stored, unsigned char *units,
                   int64_t unit_count) {
    Tally tally = {0};
    for (Query q = query(db, SQL_LEDGER_CHECK_BATCHES, "i", audit->test); query_step(&q);) {
        int64_t unit =
            query_int(&q, COL_LEDGER_CHECK_BATCHES_FIRST_PAIR) / stored->rule.batch_pairs +
            query_int(&q, COL_LEDGER_CHECK_BATCHES_SEQ);
        bool in_time = query_int(&q, COL_LEDGER_CHECK_BATCHES_COUNTED) != 0,
             excluded = query_int(&q, COL_LEDGER_CHECK_BATCHES_EXCLUDED) != 0;
        if (in_time)
            flag(audit, units, unit_count, unit, excluded ? SEEN_SPENT : SEEN_COUNTED);
        if (in_time && !excluded) {
            if (kinds[stored->rule.kind]->judge(&tally.sprt, &stored->rule, tally_pairs(&tally)) &&
                !stored->touched)
                differ(audit, "batch %lld counts after the verdict",
                       (long long)query_int(&q, COL_LEDGER_CHECK_BATCHES_ID));
            BatchCounts counts = counts_of(&q);
            tally_add(&tally, &stored->rule, &counts);
        }
        if (!numbers_equal(query_real(&q, COL_LEDGER_CHECK_BATCHES_LLR), tally.sprt.llr))
            differ(audit, "batch %lld says LLR %.17g, counting again gives %.17g",
                   (long long)query_int(&q, COL_LEDGER_CHECK_BATCHES_ID),
                   query_real(&q, COL_LEDGER_CHECK_BATCHES_LLR), tally.sprt.llr);
        check_flags(audit, &q);
    }
    compare_totals(audit, db, stored);
    compare_results(audit, stored, &tally);
}

// ---- where every pair stands --------------------------------------------------------------------

static void flag_range(Audit *audit, unsigned char *units, int64_t unit_count, int64_t first,
                       int64_t end, int seen) {
    for (int64_t unit = first; unit < end; unit++)
        if (seen != SEEN_SPENT)
            flag(audit, units, unit_count, unit, seen);
        else if (unit < unit_count)
            units[unit] |= SEEN_SPENT;
}

static void place_tasks(Audit *audit, Db *db, int64_t batch, unsigned char *units,
                        int64_t unit_count) {
    for (Query q = query(db, SQL_LEDGER_CHECK_TASKS, "i", audit->test); query_step(&q);) {
        int64_t first = query_int(&q, COL_LEDGER_CHECK_TASKS_FIRST_PAIR) / batch,
                count = query_int(&q, COL_LEDGER_CHECK_TASKS_PAIR_COUNT) / batch;
        int64_t stored = query_int(&q, COL_LEDGER_CHECK_TASKS_NEXT_SEQ);
        if (stored != query_int(&q, COL_LEDGER_CHECK_TASKS_BATCHES))
            differ(audit, "task %lld has %lld batches and says %lld",
                   (long long)query_int(&q, COL_LEDGER_CHECK_TASKS_ID),
                   (long long)query_int(&q, COL_LEDGER_CHECK_TASKS_BATCHES), (long long)stored);
        if (strcmp(query_text(&q, COL_LEDGER_CHECK_TASKS_STATE), "open") == 0)
            flag_range(audit, units, unit_count, first + stored, first + count, SEEN_OPEN);
        else
            flag_range(audit, units, unit_count, first, first + stored, SEEN_SPENT);
    }
}

// Only for tests that are not finished: at its end a test drops the pairs that were not played.
static void audit_places(Audit *audit, Db *db, const Stored *stored, unsigned char *units,
                         int64_t unit_count) {
    int64_t batch = stored->rule.batch_pairs;
    place_tasks(audit, db, batch, units, unit_count);
    for (Query q = query(db, SQL_LEDGER_CHECK_RETURNED, "i", audit->test); query_step(&q);)
        flag_range(audit, units, unit_count,
                   query_int(&q, COL_LEDGER_CHECK_RETURNED_FIRST_PAIR) / batch,
                   (query_int(&q, COL_LEDGER_CHECK_RETURNED_FIRST_PAIR) +
                    query_int(&q, COL_LEDGER_CHECK_RETURNED_PAIR_COUNT)) /
                       batch,
                   SEEN_RETURNED);
    for (int64_t unit = 0; unit < unit_count; unit++)
        if (!units[unit])
            differ(audit, "unit %lld is lost", (long long)unit);
}

static void audit_test(Audit *audit, Db *db, const Stored *stored) {
    if (stored->rule.kind == KIND_COUNT) {
        differ(audit, "this server does not know its kind");
        return;
    }
    int64_t unit_count = stored->next_pair / stored->rule.batch_pairs;
    unsigned char *units scope(free_ptr) = xcalloc((size_t)unit_count, 1);
    replay(audit, db, stored, units, unit_count);
    if (stored->state != TEST_FINISHED)
        audit_places(audit, db, stored, units, unit_count);
}

int ledger_check(Db *db, FILE *out) {
    Audit audit = {.out = out};
    int tests = 0;
    for (Query q = query(db, SQL_LEDGER_CHECK_TESTS, ""); query_step(&q); tests++) {
        Stored stored = {0};
        audit.test = query_int(&q, COL_LEDGER_CHECK_TESTS_ID);
        read_stored(&q, &stored);
        audit_test(&audit, db, &stored);
    }
    if (db_failed(db))
        audit.differences++;
    fprintf(out, "%d tests replayed, %d differences\n", tests, audit.differences);
    return audit.differences;
}

// The audit behind `server check`: counts the logged batches of every test again and compares the
// result with the stored totals. It only reads, and repairs nothing. What depends on the order of
// the batches (the LLR, the state of the stop rule, the verdict) is counted by the code that wrote
// it, tally_add(). The totals are sums that SQL makes, so that a fault of that code is found, too.
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "server/ledger/kinds.h"
#include "server/ledger/task.h"
#include "sql/ledger.h"

typedef struct Audit {
    FILE *out;
    int differences;
    int64_t test;
} Audit;

// A test as it is stored. `row` is borrowed.
typedef struct Stored {
    const SqlLedgerCheckTests *row;
    TestState state;
    TestRule rule;
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

static Stored stored_of(const SqlLedgerCheckTests *t) {
    return (Stored){
        .row = t,
        .state = test_state_of(t->state),
        .rule = {.kind = test_kind_of(t->kind),
                 .bounds = verdict_bounds(t->model, t->elo0, t->elo1, t->alpha, t->beta),
                 .batch_pairs = t->batch_pairs,
                 .pairs_max = t->pairs_max},
    };
}

// ---- results ------------------------------------------------------------------------------------

static void flag(Audit *audit, unsigned char *units, int64_t unit_count, int64_t unit, int seen) {
    if (unit < 0 || unit >= unit_count)
        differ(audit, "unit %lld was never dealt", (long long)unit);
    else if (units[unit] & ~SEEN_SPENT)
        differ(audit, "unit %lld is in two places (%d and %d)", (long long)unit, units[unit], seen);
    else
        units[unit] = (unsigned char)(units[unit] | seen);
}

static void compare_totals(Audit *audit, Db *db, const Stored *stored) {
    const SqlLedgerCheckTests *t = stored->row;
    SqlLedgerCheckTotals sum = {0};
    sql_ledger_check_totals(db, &sum, audit->test);
    const struct {
        const char *name;
        int64_t stored, sum;
    } totals[] = {
        {"ptnml0", t->ptnml0, sum.ptnml0},    {"ptnml1", t->ptnml1, sum.ptnml1},
        {"ptnml2", t->ptnml2, sum.ptnml2},    {"ptnml3", t->ptnml3, sum.ptnml3},
        {"ptnml4", t->ptnml4, sum.ptnml4},    {"wins", t->wins, sum.wins},
        {"losses", t->losses, sum.losses},    {"draws", t->draws, sum.draws},
        {"crashes", t->crashes, sum.crashes}, {"time_losses", t->time_losses, sum.time_losses}};
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++)
        if (totals[i].stored != totals[i].sum)
            differ(audit, "%s is %lld, the sum over its batches is %lld", totals[i].name,
                   (long long)totals[i].stored, (long long)totals[i].sum);
}

static void compare_results(Audit *audit, const Stored *stored, const Tally *tally) {
    const SprtState *state = &tally->sprt;
    char text[VERDICT_STATE_MAX];
    verdict_state_write(state, text);
    const SqlLedgerCheckTests *row = stored->row;
    if (!numbers_equal(row->llr, state->llr))
        differ(audit, "LLR is %.17g, counting again gives %.17g", row->llr, state->llr);
    bool fresh = numbers_equal(state->pairs, 0) && strcmp(row->sprt_state, "{}") == 0;
    if (!fresh && strcmp(row->sprt_state, text) != 0)
        differ(audit, "state of the stop rule is %s, counting again gives %s", row->sprt_state,
               text);
    // The verdict came before or after batches were excluded, or it was no verdict.
    if (stored->state != TEST_FINISHED || row->has_exclusions ||
        strcmp(row->result, "stopped") == 0 || strcmp(row->result, "failed") == 0)
        return;
    const char *result = kinds[stored->rule.kind]->judge(state, &stored->rule, tally_pairs(tally));
    if (!result || strcmp(row->result, result) != 0)
        differ(audit, "result is \"%s\", counting again gives \"%s\"", row->result,
               result ? result : "");
}

// Checks that a batch's flags follow from its load, and its exclusion from the table `exclusions`.
static void check_flags(Audit *audit, const SqlLedgerCheckBatches *b) {
    Load load = {.delay = b->load_delay,
                 .steal = b->load_steal,
                 .swap_mib = b->load_swap_mib,
                 .speed = b->load_speed,
                 .speed_before = b->load_speed_before};
    FlagLimits limits = {
        .busy = b->limit_busy, .slow = b->limit_slow, .swap_mib = b->limit_swap_mib};
    char flags[FLAGS_MAX];
    flags_judge(b->busy, &load, &limits, flags);
    if (strcmp(flags, b->flags) != 0)
        differ(audit, "batch %lld is flagged \"%s\", its load deserves \"%s\"", (long long)b->id,
               b->flags, flags);
    if (b->excluded != b->should_be_excluded)
        differ(audit, "batch %lld is %sexcluded, and should %sbe", (long long)b->id,
               b->excluded ? "" : "not ", b->should_be_excluded ? "" : "not ");
}

static void replay(Audit *audit, Db *db, const Stored *stored, unsigned char *units,
                   int64_t unit_count) {
    Tally tally = {0};
    SqlLedgerCheckBatchesRows rows scope(sql_rows_end) = sql_ledger_check_batches(db, audit->test);
    while (sql_ledger_check_batches_next(&rows)) {
        const SqlLedgerCheckBatches *b = &rows.row;
        int64_t unit = b->first_pair / stored->rule.batch_pairs + b->seq;
        if (b->counted)
            flag(audit, units, unit_count, unit, b->excluded ? SEEN_SPENT : SEEN_COUNTED);
        if (b->counted && !b->excluded) {
            if (kinds[stored->rule.kind]->judge(&tally.sprt, &stored->rule, tally_pairs(&tally)) &&
                !stored->row->has_exclusions)
                differ(audit, "batch %lld counts after the verdict", (long long)b->id);
            tally_add(&tally, &stored->rule,
                      &(BatchCounts){b->outcomes, b->wins, b->losses, b->draws, b->crashes,
                                     b->time_losses});
        }
        if (!numbers_equal(b->llr, tally.sprt.llr))
            differ(audit, "batch %lld says LLR %.17g, counting again gives %.17g", (long long)b->id,
                   b->llr, tally.sprt.llr);
        check_flags(audit, b);
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
    SqlLedgerCheckTasksRows rows scope(sql_rows_end) = sql_ledger_check_tasks(db, audit->test);
    while (sql_ledger_check_tasks_next(&rows)) {
        const SqlLedgerCheckTasks *task = &rows.row;
        int64_t first = task->first_pair / batch, count = task->pair_count / batch;
        int64_t stored = task->next_seq;
        if (stored != task->batches)
            differ(audit, "task %lld has %lld batches and says %lld", (long long)task->id,
                   (long long)task->batches, (long long)stored);
        if (strcmp(task->state, "open") == 0)
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
    SqlLedgerCheckReturnedRows rows scope(sql_rows_end) =
        sql_ledger_check_returned(db, audit->test);
    while (sql_ledger_check_returned_next(&rows))
        flag_range(audit, units, unit_count, rows.row.first_pair / batch,
                   (rows.row.first_pair + rows.row.pair_count) / batch, SEEN_RETURNED);
    for (int64_t unit = 0; unit < unit_count; unit++)
        if (!units[unit])
            differ(audit, "unit %lld is lost", (long long)unit);
}

static void audit_test(Audit *audit, Db *db, const Stored *stored) {
    if (stored->rule.kind == KIND_COUNT) {
        differ(audit, "this server does not know its kind");
        return;
    }
    int64_t unit_count = stored->row->next_pair / stored->rule.batch_pairs;
    unsigned char *units scope(free_ptr) = xcalloc((size_t)unit_count, 1);
    replay(audit, db, stored, units, unit_count);
    if (stored->state != TEST_FINISHED)
        audit_places(audit, db, stored, units, unit_count);
}

int ledger_check(Db *db, FILE *out) {
    Audit audit = {.out = out};
    int tests = 0;
    SqlLedgerCheckTestsRows rows scope(sql_rows_end) = sql_ledger_check_tests(db);
    for (; sql_ledger_check_tests_next(&rows); tests++) {
        Stored stored = stored_of(&rows.row);
        audit.test = rows.row.id;
        audit_test(&audit, db, &stored);
    }
    if (db_failed(db))
        audit.differences++;
    fprintf(out, "%d tests replayed, %d differences\n", tests, audit.differences);
    return audit.differences;
}

// The audit behind `server check`: counts the logged batches of every test again and compares the
// result with the stored totals. It only reads, and repairs nothing. The state, the history
// and the verdict depend on the order of the batches, and are counted by the code that wrote them,
// count_add(). The totals are sums that SQL makes, so that a fault of that code is found, too.
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "server/ledger/book_use.h"
#include "server/ledger/history.h"
#include "server/ledger/owner_totals.h"
#include "server/ledger/pairs.h"
#include "server/ledger/recount.h"
#include "server/ledger/task.h"
#include "sql/ledger.h"

typedef struct Audit {
    FILE *out;
    int differences;
    int64_t test;
} Audit;

// A test as it is stored, and its results as they are counted again.
typedef struct Stored {
    const SqlLedgerCheckTests *row; // borrowed
    TestState state;
    Count count;
    json_t *totals;     // of its owners, counted again
    int64_t book_limit; // of pairs that may be dealt; -1: none
} Stored;

// The place in which a unit (the pairs of one batch) was found.
enum { SEEN_COUNTED = 1, SEEN_OPEN = 2, SEEN_RETURNED = 4, SEEN_SPENT = 8, SEEN_WAITING = 16 };

__attribute__((format(printf, 2, 3))) static void differ(Audit *audit, const char *format, ...) {
    va_list args;
    audit->differences++;
    fprintf(audit->out, "test %lld: ", (long long)audit->test);
    va_start(args, format);
    vfprintf(audit->out, format, args);
    va_end(args);
    fputc('\n', audit->out);
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

// The sums of a workload that plays pairs. Others have only their units.
static void compare_totals(Audit *audit, Db *db, const Stored *stored) {
    SqlLedgerCheckTotals sum = {0};
    sql_ledger_check_totals(db, &sum, audit->test);
    json_auto_t *state = json_loads(stored->row->counts, 0, NULL);
    Pairs p = pairs_read(state);
    const struct {
        const char *name;
        int64_t stored, sum;
    } totals[] = {{"number of units", stored->row->units_counted, sum.units},
                  {"number of units of recorded owners", stored->row->units_recorded, sum.recorded},
                  {"number of units of unproven owners", stored->row->units_unproven, sum.unproven},
                  {"number of units of the author", stored->row->units_author, sum.author},
                  {"ptnml0", p.ptnml[0], sum.ptnml0},
                  {"ptnml1", p.ptnml[1], sum.ptnml1},
                  {"ptnml2", p.ptnml[2], sum.ptnml2},
                  {"ptnml3", p.ptnml[3], sum.ptnml3},
                  {"ptnml4", p.ptnml[4], sum.ptnml4},
                  {"wins", p.wins, sum.wins},
                  {"losses", p.losses, sum.losses},
                  {"draws", p.draws, sum.draws},
                  {"crashes", p.crashes, sum.crashes},
                  {"time_losses", p.time_losses, sum.time_losses},
                  {"ponders", p.ponders, sum.ponders},
                  {"ponders_against", p.ponders_against, sum.ponders_against}};
    bool pairs = stored->count.workload->unit == UNIT_PAIR;
    for (size_t i = 0; i < (pairs ? sizeof totals / sizeof *totals : 4); i++)
        if (totals[i].stored != totals[i].sum)
            differ(audit, "%s is %lld, the sum over its batches is %lld", totals[i].name,
                   (long long)totals[i].stored, (long long)totals[i].sum);
}

static void compare_text(Audit *audit, const char *what, const char *stored, const char *counted) {
    if (strcmp(stored, counted) != 0)
        differ(audit, "%s is %s, counting again gives %s", what, stored, counted);
}

static void compare_owners(Audit *audit, Db *db, const Stored *stored) {
    json_auto_t *totals = owner_totals_load(db, audit->test);
    char *there scope(free_ptr) = count_text(totals),
                *counted scope(free_ptr) = count_text(stored->totals);
    compare_text(audit, "the totals of its owners", there, counted);
}

static void compare_results(Audit *audit, const Stored *stored) {
    const SqlLedgerCheckTests *row = stored->row;
    const Count *count = &stored->count;
    char *state scope(free_ptr) = count_state_text(count),
                *points scope(free_ptr) = count_points_text(count);
    bool fresh = count->units == 0 && strcmp(row->counts, "{}") == 0;
    if (!fresh) {
        compare_text(audit, "the state", row->counts, state);
        compare_text(audit, "the text of its points", row->points, points);
    }
    // The verdict came before or after batches were excluded, or it was no verdict.
    if (stored->state != TEST_FINISHED || row->has_exclusions ||
        strcmp(row->result, "stopped") == 0 || strcmp(row->result, "failed") == 0)
        return;
    const char *result = count_judge(count, count->units == stored->book_limit);
    compare_text(audit, "result", row->result, result ? result : "\"\"");
}

static void check_book(Audit *audit, const Stored *stored) {
    const SqlLedgerCheckTests *row = stored->row;
    if (stored->book_limit < 0)
        return;
    if (row->next_pair > stored->book_limit)
        differ(audit, "%lld pairs were dealt, its book has openings for %lld",
               (long long)row->next_pair, (long long)stored->book_limit);
    if (stored->state != TEST_FINISHED && row->next_pair > 0 &&
        stored->count.units == stored->book_limit)
        differ(audit, "its book is spent, and it goes on");
}

// Checks that a batch's flags follow from its load.
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
}

// Counts a batch that came in time; `position` is that of the batch before it.
static void count_again(Audit *audit, Stored *stored, const SqlLedgerCheckBatches *b,
                        int64_t *position) {
    Count *count = &stored->count;
    if (b->position != ++*position)
        differ(audit, "batch %lld has position %lld, and %lld comes next", (long long)b->id,
               (long long)b->position, (long long)*position);
    if (b->excluded)
        return;
    if (count_judge(count, false) && !stored->row->has_exclusions)
        differ(audit, "batch %lld counts after the verdict", (long long)b->id);
    recount_batch(count, stored->totals,
                  &(LoggedBatch){b->told, b->result, b->owner, b->level, b->units});
}

// The row of the history that belongs to a position, if it has one.
static void check_history(Audit *audit, Db *db, const Stored *stored, int64_t position) {
    SqlLedgerCheckHistory row scope(sql_row_free) = {0};
    if (position % history_step(stored->row->positions) != 0)
        return;
    char *state scope(free_ptr) = count_state_text(&stored->count);
    bool there = sql_ledger_check_history(db, &row, .test = audit->test, .position = position);
    if (!there || strcmp(row.state, state) != 0 || row.units != stored->count.units)
        differ(audit, "its history says %s at position %lld, counting again gives %s",
               there ? row.state : "nothing", (long long)position, state);
}

static void check_history_rows(Audit *audit, Db *db, int64_t positions) {
    int64_t there = sql_ledger_check_history_rows(db, 0, audit->test),
            wanted = positions / history_step(positions);
    if (there != wanted)
        differ(audit, "its history has %lld rows, and should have %lld", (long long)there,
               (long long)wanted);
}

static void replay(Audit *audit, Db *db, Stored *stored, unsigned char *units, int64_t unit_count) {
    int64_t position = 0;
    SqlLedgerCheckBatchesRows rows scope(sql_rows_end) = sql_ledger_check_batches(db, audit->test);
    while (sql_ledger_check_batches_next(&rows)) {
        const SqlLedgerCheckBatches *b = &rows.row;
        int64_t unit = b->first_pair / stored->row->batch_pairs + b->seq;
        if (b->waits)
            flag(audit, units, unit_count, unit, SEEN_WAITING);
        if (b->has_position) {
            flag(audit, units, unit_count, unit, b->excluded ? SEEN_SPENT : SEEN_COUNTED);
            count_again(audit, stored, b, &position);
            check_history(audit, db, stored, position);
        }
        check_flags(audit, b);
    }
    if (position != stored->row->positions)
        differ(audit, "it gave %lld positions, and says %lld", (long long)position,
               (long long)stored->row->positions);
    if (!sql_ledger_check_conduct(db, audit->test))
        differ(audit, "the sums of what its machines showed are not those of its batches");
    check_history_rows(audit, db, position);
    compare_totals(audit, db, stored);
    compare_owners(audit, db, stored);
    compare_results(audit, stored);
}

// ---- the place of every pair --------------------------------------------------------------------

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
    int64_t batch = stored->row->batch_pairs;
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

// A batch may wait only for one that is under way.
static void check_waiting(Audit *audit, Db *db, const Stored *stored) {
    SqlLedgerNextBatch next scope(sql_row_free) = {0};
    if (test_state_is_open(stored->state) && !stored->row->unsettled &&
        sql_ledger_next_batch(db, &next, audit->test))
        differ(audit, "batch %lld waits, and no batch under way is due before it",
               (long long)next.id);
}

static void audit_test(Audit *audit, Db *db, Stored *stored) {
    const SqlLedgerCheckTests *row = stored->row;
    Error err;
    if (!count_init(&stored->count, row->workload, row->parameters, "{}", &err)) {
        differ(audit, "%s", err.message);
        return;
    }
    stored->count.test.batch_units = row->batch_pairs;
    stored->count.test.units_max = row->pairs_max;
    stored->count.author = row->author_id;
    bool repeats = row->repeats && stored->count.workload->unit == UNIT_PAIR;
    stored->book_limit = book_limit(repeats, row->openings, row->batch_pairs);
    int64_t unit_count = row->next_pair / row->batch_pairs;
    unsigned char *units scope(free_ptr) = xcalloc((size_t)unit_count, 1);
    replay(audit, db, stored, units, unit_count);
    check_book(audit, stored);
    check_waiting(audit, db, stored);
    if (stored->state != TEST_FINISHED)
        audit_places(audit, db, stored, units, unit_count);
}

int ledger_check(Db *db, FILE *out) {
    Audit audit = {.out = out};
    int tests = 0;
    SqlLedgerCheckTestsRows rows scope(sql_rows_end) = sql_ledger_check_tests(db);
    for (; sql_ledger_check_tests_next(&rows); tests++) {
        json_auto_t *totals = json_object();
        Stored stored = {
            .row = &rows.row, .state = test_state_of(rows.row.state), .totals = totals};
        audit.test = rows.row.id;
        audit_test(&audit, db, &stored);
        count_release(&stored.count);
    }
    if (!sql_ledger_check_begun(db)) {
        fprintf(out, "the sums of what owners reported are not those of the batches\n");
        audit.differences++;
    }
    if (db_failed(db))
        audit.differences++;
    fprintf(out, "%d tests replayed, %d differences\n", tests, audit.differences);
    return audit.differences;
}

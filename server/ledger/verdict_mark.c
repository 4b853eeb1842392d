// See verdict_mark.h.
#include "server/ledger/verdict_mark.h"

#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "server/common/json_member.h"
#include "server/common/str.h"
#include "server/ledger/book_use.h"
#include "server/ledger/task.h"
#include "sql/ledger.h"

// A verdict, and what the batches that count now make.
typedef struct Verdict {
    bool there; // else the test is open, or was stopped, or failed, or cannot be read
    bool stands;
    char now[16]; // a result as in the schema; "": none
    char words[COUNT_SUMMARY_MAX + 40];
} Verdict;

static Verdict verdict_load(Db *db, int64_t test) {
    Turn turn = {.db = db};
    Error ignored;
    Verdict out = {.stands = true};
    char summary[COUNT_SUMMARY_MAX], *result scope(free_ptr) = sql_ledger_verdict(db, test);
    scope(test_count_release) TestCount count = {0};
    if (!result || !test_count_load(&turn, test, 0, &count, &ignored))
        return out;
    bool pairs = count.count.workload->unit == UNIT_PAIR;
    const char *now = count_judge(&count.count, pairs && book_is_spent(db, test));
    out.there = true;
    out.stands = now && strcmp(now, result) == 0;
    count_summary(&count.count, summary);
    snprintf(out.now, sizeof out.now, "%s", now ? now : "");
    snprintf(out.words, sizeof out.words, "%s after %lld %s", summary, (long long)count.count.units,
             pairs ? "pairs" : "units");
    return out;
}

bool verdict_stands(Db *db, int64_t test) {
    return verdict_load(db, test).stands;
}

// ---- in words -----------------------------------------------------------------------------------

static char *now_text(const Verdict *verdict) {
    return xasprintf("The batches that count now make %s: %s.", verdict->words,
                     verdict->stands ? "the verdict stands"
                     : *verdict->now ? verdict->now
                                     : "no verdict");
}

__attribute__((format(printf, 2, 3))) static void add_line(json_t *lines, const char *format, ...) {
    va_list args;
    char text[1200];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    json_array_append_new(lines, json_string(text));
}

static void say_reopened(const SqlLedgerReopening *last, json_t *lines) {
    char day[16], times[40] = "";
    time_t created = (time_t)last->created;
    struct tm tm;
    strftime(day, sizeof day, "%Y-%m-%d", gmtime_r(&created, &tm));
    if (last->times > 1)
        snprintf(times, sizeof times, "%lld times, last ", (long long)last->times);
    add_line(lines, "Reopened %sby %s on %s: %s", times, last->user, day, last->reason);
    add_line(lines, "Its verdict had been: %s, %s", last->result, last->verdict);
}

static void say_pairs(int64_t pairs, const char *what, json_t *lines) {
    if (pairs)
        add_line(lines, "%lld pair%s %s", (long long)pairs, pairs == 1 ? "" : "s", what);
}

static char *joined(const json_t *lines) {
    Str out scope(str_release);
    size_t i;
    const json_t *line;
    str_init(&out, 16 << 10);
    json_array_foreach (lines, i, line) {
        const char *text = json_string_value(line);
        size_t size = strlen(text);
        str_printf(&out, "%s%s%s", i ? " " : "", text, size && text[size - 1] == '.' ? "" : ".");
    }
    return xstrdup(out.data);
}

// ---- public -------------------------------------------------------------------------------------

// A verdict that does not stand was turned, even if no pair says why.
static json_t *describe(Db *db, int64_t test, const SqlLedgerVerdictTouched *touched,
                        const SqlLedgerReopening *last) {
    Verdict verdict = verdict_load(db, test);
    char *now scope(free_ptr) = now_text(&verdict);
    json_auto_t *lines = json_array();
    if (last->times)
        say_reopened(last, lines);
    say_pairs(touched->before, "were excluded when the verdict came", lines);
    say_pairs(touched->after, "were excluded after the verdict", lines);
    say_pairs(touched->again, "count again since the verdict", lines);
    if (verdict.there && (touched->after || touched->again || !verdict.stands))
        add_line(lines, "%s", now);
    if (!json_array_size(lines))
        return json_null();
    char *text scope(free_ptr) = joined(lines);
    bool turned = !verdict.stands || last->times || touched->before;
    return json_pack("{s:b, s:I, s:I, s:I, s:I, s:s?, s:O, s:s}", "turned", turned, "reopened",
                     (json_int_t)last->times, "excluded_before", (json_int_t)touched->before,
                     "excluded_after", (json_int_t)touched->after, "included_after",
                     (json_int_t)touched->again, "result_now", *verdict.now ? verdict.now : NULL,
                     "lines", lines, "text", text);
}

json_t *verdict_mark(Db *db, int64_t test) {
    SqlLedgerVerdictTouched touched = {0};
    SqlLedgerReopening last scope(sql_row_free) = {0};
    bool excluded = sql_ledger_has_exclusions(db, test);
    if (excluded)
        sql_ledger_verdict_touched(db, &touched, test);
    sql_ledger_reopening(db, &last, test);
    return excluded || last.times ? describe(db, test, &touched, &last) : json_null();
}

bool verdict_unturned(Db *db, int64_t test, bool known, Error *err) {
    json_auto_t *mark = known ? json_null() : verdict_mark(db, test);
    return !json_is_true(json_object_get(mark, "turned")) ||
           error_set(err, 409, "verdict_turned",
                     "the verdict was turned; read why and say that you merge it all the same: %s",
                     member_text(mark, "text"));
}

json_t *verdicts_touched(Db *db, double since) {
    json_t *out = json_array();
    SqlLedgerVerdictsTouchedRows rows scope(sql_rows_end) = sql_ledger_verdicts_touched(db, since);
    while (sql_ledger_verdicts_touched_next(&rows)) {
        const SqlLedgerVerdictsTouched *row = &rows.row;
        Verdict verdict = verdict_load(db, row->id);
        char *text scope(free_ptr) = now_text(&verdict);
        json_array_append_new(out, json_pack("{s:I, s:s, s:s, s:s?, s:b, s:b, s:s}", "id",
                                             (json_int_t)row->id, "title", row->title, "result",
                                             row->result, "result_now",
                                             *verdict.now ? verdict.now : NULL, "stands",
                                             verdict.stands, "merged", row->merged, "text", text));
    }
    return out;
}

// See doc_book.h. server/ledger/book_use.h has the rule.
#include "server/pages/doc_book.h"

#include <string.h>

#include "server/common/json_member.h"
#include "server/common/str.h"
#include "server/ledger/book_use.h"
#include "server/ledger/workload.h"
#include "server/pages/format.h"
#include "sql/pages.h"

static bool plays_pairs(const json_t *row) {
    const Workload *workload = workload_named(member_text(row, "workload"));
    return workload && workload->unit == UNIT_PAIR;
}

static int64_t limit_of(const json_t *row) {
    return book_limit(json_is_true(json_object_get(row, "repeats")), member_int(row, "openings"),
                      member_int(row, "batch_pairs"));
}

static void whole(Str *out, int64_t number) {
    json_auto_t *value = json_integer(number);
    format_value("whole", value, out);
}

static json_t *sentence(Str *text) {
    return json_string(text->data);
}

json_t *doc_book_note(const json_t *row) {
    int64_t openings = member_int(row, "openings"), dealt = member_int(row, "next_pair");
    int64_t limit = limit_of(row);
    Str text scope(str_release);
    str_init(&text, 400);
    if (!plays_pairs(row) ||
        (limit < 0 ? dealt <= openings : limit >= member_int(row, "pairs_max")))
        return json_null();
    if (limit < 0) {
        str_puts(&text, "All ");
        whole(&text, openings);
        str_puts(&text, " openings of the book were dealt. Under a clock the games of an opening "
                        "differ, so the book is played again, now for time number ");
        whole(&text, (dealt + openings - 1) / openings);
    } else if (dealt >= limit) {
        str_puts(&text, "All openings of the book were dealt. The test does not play them again: "
                        "at fixed nodes or depth the games would be the same");
    } else {
        str_puts(&text, "At fixed nodes or depth an opening gives the same games each time. The "
                        "test ends after ");
        whole(&text, limit);
        str_puts(&text, " pairs, when its book is spent");
    }
    str_putc(&text, '.');
    return sentence(&text);
}

json_t *doc_book_warning(const json_t *row, const json_t *stats) {
    double games = member_real(json_object_get(stats, "eta"), "games");
    int64_t openings = member_int(row, "openings"), limit = limit_of(row);
    Str text scope(str_release);
    str_init(&text, 400);
    if (!plays_pairs(row) || games / 2 <= (double)(limit < 0 ? openings : limit))
        return json_null();
    str_puts(&text, "The book has ");
    whole(&text, openings);
    str_puts(&text, " openings, and the test is expected to need ");
    whole(&text, (int64_t)(games / 2));
    str_puts(&text, limit < 0 ? " pairs: openings will be played again."
                              : " pairs: it will end without its result when the book is spent.");
    return sentence(&text);
}

json_t *doc_submission_warnings(const DocContext *ctx, int64_t test) {
    json_auto_t *row = sql_page_test(ctx->db, test);
    json_auto_t *summary = doc_test_summary(ctx, row);
    json_auto_t *of_book = doc_book_warning(row, json_object_get(summary, "stats"));
    return json_is_string(of_book) ? json_pack("[O]", of_book) : json_array();
}

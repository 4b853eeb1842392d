// See doc_without.h.
#include "server/pages/doc_without.h"

#include <stdlib.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/ledger/count.h"
#include "sql/ledger.h"
#include "sql/pages.h"

static bool count_of(const json_t *row, Count *count) {
    Error ignored;
    if (!count_init(count, member_text(row, "workload"), member_text(row, "parameters"),
                    member_text(row, "counts"), &ignored))
        return false;
    count->test.batch_units = member_int(row, "batch_pairs");
    count->test.units_max = member_int(row, "pairs_max");
    count->units = member_int(row, "units_counted");
    return true;
}

// An owner may have had several levels, each with its own sums. Null if nothing remains.
// Sums know no order, so the bounds of an LLR are the nominal ones.
static json_t *described(Count *count, const char *who, const char *user, int64_t units) {
    char summary[COUNT_SUMMARY_MAX];
    json_t *points = count->workload->points(&count->test, count->state);
    count_summary(count, summary);
    char *text scope(free_ptr) = xasprintf(
        "Without %s%s%s%s, %.0f\u00a0%% of the result: %s%s.", who, user ? " (" : "",
        user ? user : "", user ? ")" : "", 100 * (double)units / (double)count->units, summary,
        json_object_get(points, "llr") ? ", without the correction for overshoot" : "");
    return json_pack("{s:s?, s:I, s:o, s:s}", "user", user, "units", (json_int_t)units, "points",
                     points, "text", text);
}

static json_t *without(const DocContext *ctx, const json_t *row, const char *owner,
                       const char *who) {
    scope(count_release) Count count = {0};
    int64_t units = 0;
    if (!count_of(row, &count))
        return json_null();
    SqlLedgerOwnerTotalsRows rows scope(sql_rows_end) =
        sql_ledger_owner_totals(ctx->db, member_int(row, "id"));
    while (sql_ledger_owner_totals_next(&rows))
        if (strcmp(rows.row.owner, owner) == 0) {
            json_auto_t *part = json_loads(rows.row.state, 0, NULL);
            units += rows.row.units;
            count.workload->subtract(&count.test, part, count.state);
        }
    if (!units || units >= count.units)
        return json_null();
    char *user scope(free_ptr) = sql_page_owner_name(ctx->db, owner);
    return described(&count, who, user, units);
}

json_t *doc_without(const DocContext *ctx, const json_t *row) {
    char *largest scope(free_ptr) = sql_ledger_owner_largest(ctx->db, member_int(row, "id"));
    char *author scope(free_ptr) = xasprintf("user %lld", (long long)member_int(row, "author_id"));
    return json_pack("{s:o, s:o}", "largest",
                     largest ? without(ctx, row, largest, "the owner of the most results")
                             : json_null(),
                     "author", without(ctx, row, author, "the author's machines"));
}

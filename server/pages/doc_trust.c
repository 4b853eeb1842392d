// See doc_trust.h.
#include "server/pages/doc_trust.h"

#include "server/ledger/shares.h"
#include <math.h>

#include "sql/pages.h"

// Tests wait while no machine of a vouched owner has asked for work for so long.
enum { UNSEEN_S = 86400 };

static const char *const names[] = {
    [LEVEL_UNPROVEN] = "unproven", [LEVEL_RECORDED] = "recorded", [LEVEL_VOUCHED] = "vouched"};

static const char *words_of(const SqlPageTrustOfMachine *row) {
    if (row->private)
        return "Vouched for, as every machine that registers while trust is private.";
    if (row->role)
        return "Vouched for, because its account has a role.";
    if (row->voucher)
        return "A maintainer vouches for its owner.";
    if (row->level == LEVEL_RECORDED)
        return "Recorded: its account has earned a record by games that were checked.";
    return row->has_account ? "Unproven: its account has no record yet."
                            : "Unproven: it has no account, and only an account earns a record.";
}

json_t *doc_trust_of_machine(const DocContext *ctx, int64_t machine) {
    SqlPageTrustOfMachine row scope(sql_row_free) = {0};
    if (!sql_page_trust_of_machine(ctx->db, &row, machine))
        return NULL;
    json_t *vouch = row.voucher ? json_pack("{s:s, s:f, s:s}", "user", row.voucher, "created",
                                            row.created, "reason", row.reason)
                                : json_null();
    return json_pack("{s:s, s:s, s:o}", "level", names[row.level], "words", words_of(&row), "vouch",
                     vouch);
}

json_t *doc_unvouched(const DocContext *ctx) {
    SqlPageVouchedSeen row = {0};
    if (!sql_page_vouched_seen(ctx->db, &row) || !row.public ||
        (!isnan(row.seen) && row.seen > ctx->now - UNSEEN_S))
        return json_null();
    return json_string(isnan(row.seen)
                           ? "Trust is public, and no machine's owner is vouched for. Tests "
                             "cannot end: a maintainer vouches for an owner on the page of a "
                             "machine."
                           : "Trust is public, and for a day no machine whose owner is vouched "
                             "for has asked for work. Tests wait for such machines.");
}

static json_t *waits_of(const Shares *counted, bool finished) {
    int64_t all = 0;
    for (int i = 0; i <= LEVEL_VOUCHED; i++)
        all += counted->of[i];
    if (finished || shares_hold(counted))
        return json_null();
    const double part = 100 / (double)all;
    return json_sprintf(
        "A verdict waits for pairs of vouched owners: recorded owners made %.1f\u00a0%% "
        "and unproven owners made %.1f\u00a0%% of the counted pairs, and may make a "
        "third and 5\u00a0%%.",
        (double)counted->of[LEVEL_RECORDED] * part, (double)counted->of[LEVEL_UNPROVEN] * part);
}

json_t *doc_shares(const DocContext *ctx, int64_t test) {
    SqlPageShares row = {0};
    sql_page_shares(ctx->db, &row, test);
    Shares counted = {{[LEVEL_UNPROVEN] = row.unproven,
                       [LEVEL_RECORDED] = row.recorded,
                       [LEVEL_VOUCHED] = row.vouched}};
    return json_pack("{s:I, s:I, s:I, s:I, s:o}", "vouched", (json_int_t)row.vouched, "recorded",
                     (json_int_t)row.recorded, "unproven", (json_int_t)row.unproven, "author",
                     (json_int_t)row.author, "waits", waits_of(&counted, row.finished));
}

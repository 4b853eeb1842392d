// Why no machine plays an active test: what keeps each machine that is online from it.
#include <string.h>

#include "server/accounts/machine.h"
#include "server/common/json_member.h"
#include "server/db/settings.h"
#include "server/ledger/ledger.h"
#include "server/pages/doc.h"

static void say(Str *text, int64_t count, const char *one, const char *several) {
    if (count)
        str_printf(text, "%s%lld %s", text->size ? ", " : "", (long long)count,
                   count == 1 ? one : several);
}

static json_t *sentence(const json_t *row) {
    int64_t machines = member_int(row, "machines"), failed = member_int(row, "failed"),
            few_cores = member_int(row, "few_cores"), bare = member_int(row, "bare"),
            elsewhere = member_int(row, "elsewhere"), resting = member_int(row, "resting");
    int64_t others = machines - failed - few_cores - bare - elsewhere - resting;
    Str text scope(str_release);
    str_init(&text, 1000);
    say(&text, elsewhere, "plays another test", "play other tests");
    say(&text, few_cores, "offers fewer cores than a game needs",
        "offer fewer cores than a game needs");
    say(&text, bare, "has a weaker sandbox than this server wants",
        "have weaker sandboxes than this server wants");
    say(&text, failed, "could not play it (see the failures below)",
        "could not play it (see the failures below)");
    say(&text, resting, "has to wait after several tasks without a result",
        "have to wait after several tasks without a result");
    say(&text, others, "may be about to take it, has just left or is short of memory",
        "may be about to take it, have just left or are short of memory");
    return json_sprintf("Of the machines online (%lld), %s.", (long long)machines, text.data);
}

json_t *doc_idle(const DocContext *ctx, const json_t *test) {
    const char *state = member_text(test, "state");
    if (strcmp(state, "active") != 0 || member_int(test, "machines") > 0)
        return json_null();
    json_auto_t *row = db_row_named(
        ctx->db, SQL_PAGE_IDLE,
        json_pack("{s:I, s:f, s:I, s:i, s:i}", "test", (json_int_t)member_int(test, "id"), "now",
                  ctx->now, "sandbox_min", (json_int_t)setting_whole(ctx->db, SETTING_SANDBOX_MIN),
                  "online_s", ONLINE_S, "retry_s", FAILURE_RETRY_S));
    if (!member_int(row, "machines"))
        return json_string("No machine is online.");
    return sentence(row);
}

// Why no machine plays an active test: what keeps each machine that is online from it.
#include <string.h>

#include "server/accounts/machine.h"
#include "server/common/json_member.h"
#include "server/db/settings.h"
#include "server/ledger/ledger.h"
#include "server/pages/doc.h"
#include "sql/pages.h"

static void say(Str *text, int64_t count, const char *one, const char *several) {
    if (count)
        str_printf(text, "%s%lld %s", text->size ? ", " : "", (long long)count,
                   count == 1 ? one : several);
}

static json_t *sentence(const SqlPageIdle *idle) {
    int64_t others = idle->machines - idle->failed - idle->few_cores - idle->bare -
                     idle->elsewhere - idle->resting - idle->misfit - idle->stranger - idle->share;
    Str text scope(str_release);
    str_init(&text, 1000);
    say(&text, idle->elsewhere, "plays another test", "play other tests");
    say(&text, idle->few_cores, "offers fewer cores than a game needs",
        "offer fewer cores than a game needs");
    say(&text, idle->stranger, "is of no person with a role (see Health)",
        "are of no people with a role (see Health)");
    say(&text, idle->bare, "has a weaker sandbox than this server wants",
        "have weaker sandboxes than this server wants");
    say(&text, idle->failed, "could not play it (see the failures below)",
        "could not play it (see the failures below)");
    say(&text, idle->misfit, "does not fit its clock (see the machines below)",
        "do not fit their clocks (see the machines below)");
    say(&text, idle->resting, "has to wait after several tasks without a result",
        "have to wait after several tasks without a result");
    say(&text, idle->share, "has had its share until vouched owners have played more of the test",
        "have had their share until vouched owners have played more of the test");
    say(&text, others, "may be about to take it, has just left or is short of memory",
        "may be about to take it, have just left or are short of memory");
    return json_sprintf("Of the machines online (%lld), %s.", (long long)idle->machines, text.data);
}

json_t *doc_idle(const DocContext *ctx, const json_t *test) {
    const char *state = member_text(test, "state");
    if (strcmp(state, "active") != 0 || member_int(test, "machines") > 0)
        return json_null();
    SqlPageIdle idle = {0};
    if (!sql_page_idle(ctx->db, &idle, .test = member_int(test, "id"), .now = ctx->now,
                       .sandbox = setting_whole(ctx->db, SETTING_SANDBOX_MIN), .online_s = ONLINE_S,
                       .retry_s = FAILURE_RETRY_S) ||
        !idle.machines)
        return json_string(idle.only_roles ? "No machine of a person with a role is online, and "
                                             "others get no tasks (see Health)."
                                           : "No machine is online.");
    return sentence(&idle);
}

// Maintainers vouch for the owners of machines: see ledger.h and trust.h.
#include <stdio.h>
#include <string.h>

#include "server/common/str.h"
#include "server/ledger/event.h"
#include "server/ledger/ledger.h"
#include "sql/ledger.h"

static bool vouch_check(const SqlLedgerVouchState *found, int64_t worker, bool vouch, int64_t user,
                        Error *err) {
    char own[32];
    snprintf(own, sizeof own, "user %lld", (long long)user);
    if (vouch && strcmp(own, found->owner) == 0)
        return error_set(err, 403, "own_account",
                         "you cannot vouch for your own account: another maintainer does");
    return found->vouched != vouch ||
           error_set(err, 409, "wrong_state", "the owner of machine %lld is %s", (long long)worker,
                     vouch ? "already vouched for" : "not vouched for by a maintainer");
}

bool ledger_vouch(Turn *turn, int64_t worker, bool vouch, int64_t user, const char *reason,
                  Error *err) {
    SqlLedgerVouchState found scope(sql_row_free) = {0};
    if (!sql_ledger_vouch_state(turn->db, &found, worker))
        return error_set(err, 404, "no_such_machine", "there is no machine %lld",
                         (long long)worker);
    if (!vouch_check(&found, worker, vouch, user, err) ||
        !(vouch ? sql_ledger_vouch_add(turn->db, err, .owner = found.owner, .user = user,
                                       .reason = reason, .now = turn->now)
                : sql_ledger_vouch_undo(turn->db, err, .owner = found.owner, .user = user,
                                        .now = turn->now)))
        return false;
    ledger_event(turn, vouch ? "vouched" : "unvouched", user, worker, 0,
                 "%s this machine's owner%s%s", vouch ? "vouches for" : "no longer vouches for",
                 *reason ? ": " : "", reason);
    turn_wake(turn); // it may get other tasks now
    return true;
}

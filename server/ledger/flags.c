// Flags of batches whose machine was busy, slow or short of memory during the games. Also the games
// that a machine is credited with. See ledger.h.
#include <math.h>
#include <string.h>

#include "server/db/settings.h"
#include "server/ledger/task.h"
#include "sql/ledger.h"

const Load LOAD_UNKNOWN = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};

static void add_flag(char flags[FLAGS_MAX], bool deserved, const char *flag) {
    size_t size = strlen(flags);
    if (deserved)
        snprintf(flags + size, FLAGS_MAX - size, "%s%s", size ? " " : "", flag);
}

void flags_judge(double busy, const Load *load, const FlagLimits *limits, char flags[FLAGS_MAX]) {
    double most = fmax(busy, fmax(load->delay, load->steal));
    bool measured = load->speed >= 0 && load->speed_before > 0;
    *flags = 0;
    add_flag(flags, limits->busy >= 0 && most > limits->busy, "busy");
    add_flag(flags,
             limits->slow >= 0 && measured && load->speed < (1 - limits->slow) * load->speed_before,
             "slow");
    add_flag(flags, limits->swap_mib >= 0 && load->swap_mib > limits->swap_mib, "swap");
}

FlagLimits flag_limits(Turn *turn) {
    return (FlagLimits){.busy = setting_real(turn->db, SETTING_FLAG_BUSY),
                        .slow = setting_real(turn->db, SETTING_FLAG_SLOW),
                        .swap_mib = (double)setting_whole(turn->db, SETTING_FLAG_SWAP_MIB)};
}

Credit ledger_credit(Db *db, int64_t worker) {
    Credit credit = {0};
    SqlLedgerCredit found scope(sql_row_free) = {0};
    if (sql_ledger_credit(db, &found, worker)) {
        credit.games = found.games;
        snprintf(credit.user, sizeof credit.user, "%s", found.user);
    }
    return credit;
}

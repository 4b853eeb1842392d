// See game_time.h.
#include "server/ledger/game_time.h"

#include <math.h>

#include "server/common/json_member.h"

// A worker that has not measured its speed counts as this many times slower than the reference.
static const double UNKNOWN_FACTOR = 3;
// The factor by which clocks are longer on this machine.
static double scale_of(const Claim *claim, const SqlLedgerCandidates *test, double *speed,
                       double *slowness) {
    double reference = test->reference_speed, low = test->scale_min, high = test->scale_max;
    *speed = member_real(claim->speeds, test->name);
    *slowness = *speed > 0 ? 1 : fmax(high / UNKNOWN_FACTOR, 1);
    double factor = *speed > 0 ? reference / *speed : UNKNOWN_FACTOR;
    *speed = *speed > 0 ? fmax(*speed, reference / high) : reference / UNKNOWN_FACTOR;
    return fmin(fmax(factor, low), high);
}

GameTime game_time(const Claim *claim, const SqlLedgerCandidates *test, const TimeControl tc[2],
                   int cores) {
    GameTime play = {0};
    double speed, scale = scale_of(claim, test, &speed, &play.slowness);
    for (int i = 0; i < 2; i++) {
        double own_scale = tc_is_scaled(&tc[i]) ? scale : 1;
        play.game_s += own_scale * tc_game_seconds(&tc[i], speed) / 2;
        play.longest_s += own_scale * tc_longest_seconds(&tc[i], speed) / 2;
        play.ratio += tc_ratio(&tc[i], cores) / 2;
    }
    return play;
}

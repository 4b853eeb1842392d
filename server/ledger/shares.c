// See shares.h.
#include "server/ledger/shares.h"

// For each unit of the levels above, recorded owners may have a half, unproven ones a nineteenth.
enum { FOR_ONE_RECORDED = 2, FOR_ONE_UNPROVEN = 19 };

static int64_t most(const Shares *counted, OwnerLevel level) {
    int64_t above = counted->of[LEVEL_VOUCHED];
    if (level == LEVEL_RECORDED)
        return above / FOR_ONE_RECORDED;
    return (above + counted->of[LEVEL_RECORDED]) / FOR_ONE_UNPROVEN;
}

bool shares_hold(const Shares *counted) {
    return counted->of[LEVEL_RECORDED] <= most(counted, LEVEL_RECORDED) &&
           counted->of[LEVEL_UNPROVEN] <= most(counted, LEVEL_UNPROVEN);
}

int64_t shares_room(const Shares *counted, const Shares *held, OwnerLevel level) {
    return level == LEVEL_VOUCHED ? INT64_MAX
                                  : most(counted, level) - counted->of[level] - held->of[level];
}

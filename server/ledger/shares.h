// How much of a test's counted units owners of each level make, at most: recorded ones together a
// third, unproven ones together a twentieth. The scheduler keeps to it: what it deals to owners of
// a level, with what they hold already, must fit what owners above them have *counted*. So the
// shares hold after each counted unit, whatever order the units arrive in, and no played game is
// lost. Only an exclusion can break them; then a verdict waits for units that restore them. Pure.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "server/ledger/trust.h"

// Units of owners of each level.
typedef struct Shares {
    int64_t of[LEVEL_VOUCHED + 1];
} Shares;

bool shares_hold(const Shares *counted);
// Units that may still be dealt to owners of a level, 0 or less: none. `held`: units that were
// dealt to owners of each level and may still count. INT64_MAX for vouched owners.
int64_t shares_room(const Shares *counted, const Shares *held, OwnerLevel level);

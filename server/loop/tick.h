// The work that the server does once a second, in the turn: leases that have expired,
// the disk, tokens that were used, and rows that are too old.
#pragma once

#include "server/loop/state.h"

void tick_in_turn(Loop *loop, double now);

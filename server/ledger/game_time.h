// How long a game of a test takes on the machine that claims.
#pragma once

#include "server/common/time_control.h"
#include "server/ledger/ledger.h"
#include "sql/ledger.h"

// Each side uses half of the time. The clocks of both sides have one scale.
typedef struct GameTime {
    double game_s, longest_s;
    double ratio;    // cost of a game relative to 10+0.1 with one thread
    double slowness; // how many times slower than assumed the machine may be
} GameTime;
GameTime game_time(const Claim *claim, const SqlLedgerCandidates *test, const TimeControl tc[2],
                   int cores);

// A machine whose bench was outvoted played another engine. The server knows that without looking
// at results, and excludes its batches. A long test is counted again a part at a time, so that no
// reply waits for it; until then it gets no verdict.
#pragma once

#include "server/ledger/ledger.h"

// At once, or later by ledger_exclude_outvoted(). Nothing if no batch of it counts or waits.
bool outvoted_exclude(Turn *turn, int64_t test, int64_t worker, Error *err);

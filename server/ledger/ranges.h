// Ranges of pairs that were dealt and returned. All are multiples of the test's batch, because
// tasks are, and only whole batches return.
#pragma once

#include "server/db/turn.h"

// Returns whole batches. `owner` started them and did not report them; "": they were not started.
// The range is joined with an adjacent returned range of the same owner.
bool ranges_return(Turn *turn, int64_t test, int64_t first, int64_t count, const char *owner,
                   Error *err);
// Takes up to `wanted` consecutive pairs from the lowest range that `not_of` did not start ("": any
// range), and from those that follow without a gap; 0: there is none.
int64_t ranges_take(Turn *turn, int64_t test, int64_t wanted, const char *not_of, int64_t *first,
                    Error *err);

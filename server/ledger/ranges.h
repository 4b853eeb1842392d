// Ranges of pairs that were dealt and came back. All are multiples of the test's batch, because tasks
// are and only whole batches return.
#pragma once

#include "server/db/turn.h"

// Ranges of whole batches. `owner` started them and did not report them; "": they were not started. A range that
// touches one of the same owner that lies there already is joined to it.
bool ranges_return(Turn *turn, int64_t test, int64_t first, int64_t count, const char *owner,
                   Error *err);
// Takes up to `wanted` consecutive pairs from the lowest range that `not_of` did not begin (""; any
// range); 0: nothing lies there.
int64_t ranges_take(Turn *turn, int64_t test, int64_t wanted, const char *not_of, int64_t *first,
                    Error *err);
// Takes exactly these pairs if they lie there; fine if they do not.
bool ranges_remove(Turn *turn, int64_t test, int64_t first, int64_t count, Error *err);

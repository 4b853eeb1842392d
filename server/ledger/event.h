// The event log.
#pragma once

#include <stdint.h>

#include "server/db/turn.h"

// Adds an event to the log; ids of 0 are left out. Publishes it as "event". A routine event may
// share the row of an earlier one (sql/schema.sql, routine_events), so that no sender of requests
// makes the log grow without bound.
void ledger_event(Turn *turn, const char *type, int64_t user, int64_t worker, int64_t test,
                  const char *format, ...) __attribute__((format(printf, 6, 7)));

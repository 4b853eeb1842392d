// The event log.
#pragma once

#include <stdint.h>

#include "server/db/turn.h"

// Adds a line to the event log; ids of 0 are left out. Publishes it as "event".
void ledger_event(Turn *turn, const char *type, int64_t user, int64_t worker, int64_t test,
                  const char *format, ...) __attribute__((format(printf, 6, 7)));

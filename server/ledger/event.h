// The event log.
#pragma once

#include <stdint.h>

#include "server/db/turn.h"

// One line of the event log; ids of 0 are left out. Published as "event".
void ledger_event(Turn *turn, const char *type, int64_t user, int64_t worker, int64_t test,
                  const char *format, ...) __attribute__((format(printf, 6, 7)));

// The other end of a game that a rule of adjudication had ended and that was played on, as a
// document for the server (API.md, `ending.request`).
#pragma once

#include "worker/match/played_on.h"
#include "worker/results/spool.h"

// Of game `number` of the task. New.
SpoolItem *ending_item(const PlayedOn *played, int64_t task, int number);

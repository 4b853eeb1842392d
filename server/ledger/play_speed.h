// Whether the speed of a machine in play fits the speed that it measured, which scaled its clocks.
#pragma once

#include "server/ledger/ledger.h"

// Compares both speeds of a machine over its newest tasks of a test that have ended, and that ratio
// with the ratio of the other machines. A machine that does not fit gets no further task of the
// test. Call this when a task has ended, and when a batch came after that.
bool play_speed_judge(Turn *turn, int64_t test, int64_t worker, Error *err);
// The same for the machines whose tasks the end of the test stopped, in this turn.
bool play_speed_judge_stopped(Turn *turn, int64_t test, Error *err);

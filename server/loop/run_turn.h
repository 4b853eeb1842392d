// A turn of the loop: one transaction for all requests that are ready, each in its own savepoint,
// and the actions after its COMMIT. If the COMMIT succeeds, all changes of the turn are kept and
// answered. If it fails, nothing has happened, and every request of the turn gets 503. (db/turn.h
// is the turn as handlers see it.)
#pragma once

#include "server/loop/state.h"

// Runs a turn if a request is ready or due, or if `tick` is set.
void run_turn(Loop *loop, double now, bool tick);
// Removes waiting requests whose client has disconnected, and ends them.
void run_turn_end_gone(Loop *loop);
// At the end of the server: refuses all requests that are ready or waiting.
void run_turn_refuse_rest(Loop *loop, double now);

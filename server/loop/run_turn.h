// A turn of the loop: one transaction for all requests that are ready, each in a savepoint of its own, and what follows
// once its COMMIT is on disk. All or nothing: with the COMMIT all that the turn did is kept and answered; without it
// nothing happened, and every request of the turn is refused with 503. (db/turn.h: the turn as handlers see it.)
#pragma once

#include "server/loop/state.h"

// Where something is ready, due or `tick`.
void run_turn(Loop *loop, double now, bool tick);
// Takes waiting requests whose client has gone out of the queue and ends them.
void run_turn_end_gone(Loop *loop);
// Refuses all requests that are still ready or waiting; at the end.
void run_turn_refuse_rest(Loop *loop, double now);

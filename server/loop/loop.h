// The loop: reads requests, runs a turn (run_turn.h), answers after its COMMIT, and wakes waiting
// requests in time.
#pragma once

#include "server/loop/state.h"

// Starts the readers and libmicrohttpd. The caller (server/start.c) has filled config, site,
// routes, the descriptors, writer and housekeeping.
bool loop_start(Loop *loop, Error *err);
// Runs until SIGTERM or SIGINT arrives on signal_fd. Then it runs a last turn and answers every
// request.
void loop_run(Loop *loop);
// Ends what loop_start() began, even if that failed.
void loop_stop(Loop *loop);

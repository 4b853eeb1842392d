// The loop: reads what has arrived, runs a turn (run_turn.h), answers after its COMMIT, and keeps time for the requests
// that wait.
#pragma once

#include "server/loop/state.h"

// The caller (server/start.c) has filled config, site, routes, the descriptors, writer and housekeeping. Starts readers
// and libmicrohttpd.
bool loop_start(Loop *loop, Error *err);
// Until SIGTERM or SIGINT arrives on signal_fd. Then a last turn, and every request is answered.
void loop_run(Loop *loop);
// Ends what loop_start began, also where that failed.
void loop_stop(Loop *loop);

// The loop: reads what has arrived, runs the turn (one transaction for all requests that are ready,
// each in its savepoint), answers after COMMIT, and keeps time for those who wait.
#pragma once

#include "server/loop/app.h"

// Until SIGTERM or SIGINT arrives on app->signal_fd. Then the last turn, and nothing is suspended.
void loop_run(App *app);

// What the worker does, in one line: updated on a terminal, logged from time to time elsewhere. All
// threads may call these functions.
#pragma once

#include "worker/console/status_line.h"

// On a terminal, status_show() draws the line. Elsewhere the start of each phase is logged, and the
// play at most once per minute.
void status_start(void);
// Changes the status under its lock.
void status_update(void (*change)(Status *status, void *ctx), void *ctx);
void status_phase(const char *phase);
// A step of the phase, such as "new" in "build", and its usual duration (0: unknown).
void status_step(const char *detail, double usual_s);
// What the worker waits for, such as "http://…: no connection", and how long. NULL: it does not
// wait.
void status_waiting(const char *why, double seconds);
// The number of counted games of `user` (NULL: of this machine), from a reply of the server.
void status_credit(const char *user, int64_t games);
void status_stopping(void);
// Games finished since the start.
int64_t status_games(void);
// Called about once a second.
void status_show(void);
void status_end(void); // clears the line of the terminal

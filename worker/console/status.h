// What the worker is doing, in one line: kept live on a terminal, said once in a while in a log.
// Any thread may tell it; all calls are safe.
#pragma once

#include "worker/console/status_line.h"

// On a terminal, status_show paints; elsewhere a phase is logged as it begins, and play at most
// once a minute.
void status_start(void);
// Changes the status under its lock.
void status_update(void (*change)(Status *status, void *ctx), void *ctx);
void status_phase(const char *phase);
// A step of the phase, as "new" of "build", and how long it usually takes (0: not known).
void status_step(const char *detail, double usual_s);
// What is waited for and for how long, as "http://…: no connection"; NULL: no longer.
void status_waiting(const char *why, double seconds);
// What a reply of the server's said of games that count so far, of `user` (NULL: of the machine).
void status_credit(const char *user, int64_t games);
void status_stopping(void);
// Games finished since the start.
int64_t status_games(void);
// Called about once a second.
void status_show(void);
void status_end(void); // leaves the terminal's line clean

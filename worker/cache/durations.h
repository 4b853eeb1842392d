// How long things usually take on this machine, so that one who waits knows what to expect.
#pragma once

#include "worker/cache/store.h"

// Seconds that `what` ("build", "speed") took for that engine lately; 0: not known.
double duration_usual_s(const Store *store, const char *engine, const char *what);
void duration_note(const Store *store, const char *engine, const char *what, double seconds);

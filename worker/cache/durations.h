// How long builds and measurements usually take on this machine, for the status line.
#pragma once

#include "worker/cache/store.h"

// Seconds that `what` ("build", "speed") took for that engine lately; 0: not known.
double duration_usual_s(const Store *store, const char *engine, const char *what);
void duration_note(const Store *store, const char *engine, const char *what, double seconds);

// A thread that calls a function at the start, at intervals, and when it is woken.
#pragma once

#include "server/common/error.h"

typedef struct Background Background;

// `look` runs on the thread with `arg`, first at once and then `every_s` seconds after its last
// end. A `look` that takes long asks background_is_stopping() from time to time. *out is set before
// the first call, so `look` can read it.
bool background_start(Background **out, void (*look)(void *arg), void *arg, int every_s,
                      Error *err);
void background_wake(Background *background);
bool background_is_stopping(Background *background);
// Waits until a running `look` ends, and frees. NULL is fine.
void background_stop(Background *background);

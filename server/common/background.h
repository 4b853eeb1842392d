// A thread that looks now and then: a function that is called at the start, every so often, and whenever it is woken.
#pragma once

#include "server/common/error.h"

typedef struct Background Background;

// `look` runs on the thread, with `arg`, at once and then `every_s` seconds after it last ended. A long look asks
// background_is_stopping() now and then, by the Background that background_start() is about to store in *out.
bool background_start(Background **out, void (*look)(void *arg), void *arg, int every_s,
                      Error *err);
void background_wake(Background *background);
bool background_is_stopping(Background *background);
// Waits for the end of a look that runs, and frees; NULL is fine.
void background_stop(Background *background);

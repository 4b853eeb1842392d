// A maintainer says that a test's commit does harm: the test ends, and with it all open tests that
// are built on the commit; later ones are refused (ground.h). Git is read on a reader thread.
#pragma once

#include "server/submit/caller.h"

typedef struct Harm Harm;

// 409 `in_baseline` if the commit is in the history of the baseline. NULL on error.
Harm *submit_harmful_prepare(const Caller *caller, int64_t test, Error *err);
void harm_free(void *harm); // fits Request.state_free
// Appends the ids of the other tests that it stopped to `stopped`. In the turn.
bool submit_harmful(const Caller *caller, Harm *harm, const char *reason, json_t *stopped,
                    Error *err);

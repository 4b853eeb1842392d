// The end of sandboxes whose worker was killed. All that runs strangers' code carries a mark that
// it cannot take off. A guard, which is a process beside the worker, ends what carries it as soon
// as the worker is gone. Where the guard was killed too, the next start of the worker does.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "server/common/error.h"

// Ends what an earlier worker of `folder` left running, then starts the guard of this one. Once a
// process, before its first sandbox.
bool os_guard_start(const char *folder, Error *err);
// What a child puts on before it becomes a stranger's program; 0: there is no guard.
int64_t os_guard_mark(void);
// The guard's process; 0: there is none.
int os_guard_pid(void);

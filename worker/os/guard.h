// Ends sandboxes whose worker and keepers (keeper.h) were killed. Every process that runs
// strangers' code has a mark that it cannot remove. A second process, the guard, kills all
// processes with the mark as soon as the worker has ended. If the guard was killed too, the next
// start of the worker kills them. Where there are control groups (own_group.h), both also kill what
// is in those of the worker: a process cannot leave them.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "server/common/error.h"

// Kills the processes that an earlier worker of `folder` left running, then starts the guard of
// this worker. Called once, before the first sandbox.
bool os_guard_start(const char *folder, Error *err);
// The mark, which a child sets on itself before it executes a stranger's program; 0: no guard.
int64_t os_guard_mark(void);
// The process id of the guard; 0: no guard.
int os_guard_pid(void);

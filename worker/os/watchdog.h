// The table of living children, for os_spawn and os_kill. The watchdog kills a child that exceeds a
// limit which the system itself does not enforce. os_watch_sweep kills orphans: descendants of a
// child that has ended. There is one table in a process, because a process has one set of children.
#pragma once

#include <stdbool.h>

#include "worker/os/job_group.h"
#include "worker/os/limits.h"

typedef struct OsWatch OsWatch;

// A child that is not in the table would be taken for an orphan. Therefore fork, and os_watch_add,
// between lock and unlock.
void os_watch_lock(void);
void os_watch_unlock(void);
// Call it with the lock held. `limits` may be NULL, and is borrowed until os_watch_end. The
// descriptor of `group` is borrowed until os_watch_remove.
OsWatch *os_watch_add(int pid, const OsLimits *limits, const OsJobGroup *group);

// Call it before the child is reaped: from then on the watchdog does not use its process id.
void os_watch_end(OsWatch *watch);
// Call it after os_watch_end and the last call of os_watch_verdict.
void os_watch_remove(OsWatch *watch);
// The text for os_limit_exceeded.
const char *os_watch_verdict(OsWatch *watch);

// Kills and reaps orphans. No effect unless os_become_subreaper (process.h) was called.
void os_watch_sweep(void);

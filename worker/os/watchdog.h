// The table of living children, for os_spawn and os_kill. A child that passes a limit which the system
// itself does not enforce is killed. So is an orphan: a process that has left the child which started it.
// There is one table in a process, because a process has one set of children.
#pragma once

#include <stdbool.h>

#include "worker/os/limits.h"

typedef struct OsWatch OsWatch;

// A child must be in the table as soon as it exists, or it would be taken for an orphan: fork between
// lock and unlock.
void os_watch_lock(void);
void os_watch_unlock(void);
// With the lock held. `limits` may be NULL, and is borrowed until os_watch_end.
OsWatch *os_watch_add(int pid, const OsLimits *limits);

// Before the child is reaped: from here on its number is not looked at again.
void os_watch_end(OsWatch *watch);
// After that, and after the last look at os_watch_verdict.
void os_watch_remove(OsWatch *watch);
// As os_limit_exceeded.
const char *os_watch_verdict(const OsWatch *watch);

// Kills and reaps what came loose (process.h, os_become_subreaper); nothing where nothing is adopted.
void os_watch_sweep(void);

// The keeper: a process of ours between the worker and a program of strangers, one for each such
// program. It is the parent of all descendants of the program whose own parent ended (a subreaper),
// so no process of the program can leave it. It kills them all when the program ends, when the
// worker ends for any reason, or at SIGTERM, and then ends like the program: with its exit status,
// or by the same signal.
#pragma once

#include <sys/types.h>

// Makes the calling process, a child of `worker` between fork and exec, the keeper, and forks the
// program. Returns in the program, with the process id of the keeper, and all signals blocked. On
// failure it returns -1 with errno in the calling process.
pid_t os_keep(pid_t worker);

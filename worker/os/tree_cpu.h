// The exact CPU time that a process and all its descendants have used: threads and processes that
// have ended included. A reading is cheap enough to be taken before and after every move.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "worker/os/tree.h"

typedef struct OsTreeCpu {
    int root;     // process id; 0: none
    int forks;    // descriptor of a counter that changes when any process or thread is started
    int64_t seen; // that counter before `tree` was listed
    OsTree tree;
    int64_t children_ns; // of their children that have ended, and of theirs
    int64_t most_ns;
} OsTreeCpu;

// A zeroed counter counts nothing. `pid` is a child of this process, so its id stays its own until
// it is reaped; stop the counter before.
void os_tree_cpu_start(OsTreeCpu *cpu, int pid);
// In ns since the process was started; never less than before. The part of descendants that have
// ended is known in ticks of 10 ms, so up to two ticks a process may appear later than they were
// used. -1: the process has ended or was never there.
//
// The kernel adds a process that has ended to its parent only where the parent waits for it. A
// parent that ignores SIGCHLD does not; the filter for play refuses to ignore it (seccomp_linux.c).
int64_t os_tree_cpu_read(OsTreeCpu *cpu);
void os_tree_cpu_stop(OsTreeCpu *cpu); // no effect on a zeroed counter

// A file system of its own for a process, where the system lets a user make namespaces: it has the
// files that every program needs (landlock.h) and one folder, and no other name. Landlock restricts
// only what is opened. Here no path leads to the other files, so that `stat`, `readlink` and
// `statfs` find nothing either.
#pragma once

#include <stdbool.h>

// Moves this process and its future children there. `folder`, an absolute path without links,
// keeps its path; all else is read-only. User and group keep their numbers. Afterwards the process
// has no capabilities, in its own namespace either, so that it cannot undo this, and its working
// folder is /. The process must have one thread. Uses system calls only, for a child between fork
// and exec. On false, errno says why, and the process must end.
bool os_mounts_enter(const char *folder, bool writable);

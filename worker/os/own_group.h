// The worker's own control group (version 2), below which each program of strangers gets a group
// (job_group.h). The worker makes one where it may: as root below its present group, or below a
// group that was given to its user (delegated). Elsewhere there is none, and nothing changes. It
// never moves other processes, and changes no group that was not given to it.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

// Makes the group, with the worker itself in its subgroup "worker". Called once, before there are
// other threads, and by root before it becomes the user `uid`, to whom the group is given.
void os_own_group_start(uid_t uid, gid_t gid);
int os_own_group_folder(void);           // a descriptor of its folder; -1: there is no group
const char *os_own_group_path(void);     // of its folder; "" if there is no group
bool os_own_group_counts_memory(void);   // whether the kernel can limit the memory of its subgroups
const char *os_own_group_describe(void); // a sentence for the user, with the case of no group

// Kills all programs in the groups of jobs in `folder` and removes these groups. Returns in how
// many of them there were processes. Async-signal-safe.
int os_own_group_end_jobs(int folder);
// The same for the group with this path, which an earlier worker had written down. A path that is
// not that of a worker's group has no effect.
int os_own_group_end_earlier(const char *path);

// The folder of the group of version 2 that the texts of /proc/self/cgroup and /proc/self/mountinfo
// tell; NULL if it is not visible. New.
char *os_own_group_find(const char *groups, const char *mounts);

// Writes one text to a file of a group; async-signal-safe.
bool os_group_write(int folder, const char *name, const char *text);

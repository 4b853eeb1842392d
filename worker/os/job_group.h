// The control group of one program of strangers with all its descendants, in the worker's own group
// (own_group.h). The kernel ends all processes in it at once, whatever they did to leave their
// parent, session or process group. Where the kernel can count memory, it limits that too. A zeroed
// group stands for none; all calls then have no effect.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct OsJobGroup {
    int number; // 0: none
    int folder; // a descriptor of its folder
} OsJobGroup;

// `memory_bytes` 0: no limit.
OsJobGroup os_job_group_make(int64_t memory_bytes);
// Puts the calling process into the group. For a child between fork and exec: async-signal-safe.
void os_job_group_join(const OsJobGroup *group);
void os_job_group_kill(const OsJobGroup *group);
// Whether the kernel has ended the job because it exceeded the limit of its memory.
bool os_job_group_ran_out(const OsJobGroup *group);
// Kills what is left in the group and removes it. The guard or the next start of a worker removes a
// group whose processes do not end soon.
void os_job_group_remove(OsJobGroup *group);

// A limit of the watchdog, and a little more: the kernel's limit holds where the watchdog's is not
// exact or not in time.
void os_group_limit_memory(int folder, int64_t memory_bytes);

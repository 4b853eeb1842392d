// See job_group.h.
#include "worker/os/job_group.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "server/common/log.h"
#include "server/common/str.h"
#include "worker/os/own_group.h"

// The watchdog does not count a small growth of the kernel's memory, which the kernel does.
static const int64_t kernel_bytes = 64 << 20;

static void name_of(int number, char name[32]) {
    snprintf(name, 32, "job-%d", number);
}

// Without swapping, and all processes of the job end together.
void os_group_limit_memory(int folder, int64_t memory_bytes) {
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, memory_bytes + kernel_bytes);
    if (os_group_write(folder, "memory.max", text)) {
        os_group_write(folder, "memory.swap.max", "0");
        os_group_write(folder, "memory.oom.group", "1");
    }
}

OsJobGroup os_job_group_make(int64_t memory_bytes) {
    static atomic_int numbers;
    char name[32];
    int parent = os_own_group_folder(), number = parent < 0 ? 0 : ++numbers;
    if (!number)
        return (OsJobGroup){0};
    name_of(number, name);
    int folder = mkdirat(parent, name, 0755) < 0
                     ? -1
                     : openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) {
        log_debug("cannot make the control group %s: %s", name, strerror(errno));
        return (OsJobGroup){0};
    }
    if (memory_bytes && os_own_group_counts_memory())
        os_group_limit_memory(folder, memory_bytes);
    return (OsJobGroup){number, folder};
}

void os_job_group_join(const OsJobGroup *group) {
    if (group->number)
        os_group_write(group->folder, "cgroup.procs", "0");
}

void os_job_group_kill(const OsJobGroup *group) {
    if (group->number)
        os_group_write(group->folder, "cgroup.kill", "1");
}

// The value of a line "NAME VALUE".
static int64_t value_of(const char *text, const char *name) {
    size_t size = strlen(name);
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (strncmp(line, name, size) == 0 && line[size] == ' ')
            return strtoll(line + size, NULL, 10);
    return 0;
}

// "oom" counts only where the limit of this group was exceeded. "oom_kill" alone may tell of a
// machine that had no memory left.
bool os_job_group_ran_out(const OsJobGroup *group) {
    char text[512];
    int file = group->number ? openat(group->folder, "memory.events", O_RDONLY | O_CLOEXEC) : -1;
    ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    text[size > 0 ? size : 0] = 0;
    return value_of(text, "oom") > 0 && value_of(text, "oom_kill") > 0;
}

// A process that is killed is in the group until it has ended.
void os_job_group_remove(OsJobGroup *group) {
    enum { TRIES_MAX = 500, TRY_NS = 1000000 };
    char name[32];
    int tries = 0;
    if (!group->number)
        return;
    name_of(group->number, name);
    while (unlinkat(os_own_group_folder(), name, AT_REMOVEDIR) < 0 && errno == EBUSY &&
           tries++ < TRIES_MAX) {
        os_job_group_kill(group);
        nanosleep(&(struct timespec){0, TRY_NS}, NULL);
    }
    if (tries > TRIES_MAX)
        log_debug("processes in the control group %s do not end", name);
    close_fd(&group->folder);
    *group = (OsJobGroup){0};
}

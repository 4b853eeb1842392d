// See tree_cpu.h. The clock of a process counts all its threads, ended ones included, and takes one
// system call to read. The processes are listed again only if the kernel has given out a process id
// since they were listed, or if one of them has ended: only then can there be a new process, or one
// that came and went.
#include "worker/os/tree_cpu.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server/common/str.h"

enum { STAT_MAX = 1024, TRIES_MAX = 4 };

// The last process id that the kernel has given out; -1: this system does not tell it.
static int64_t last_pid(int file) {
    char text[32];
    ssize_t size = file < 0 ? -1 : pread(file, text, sizeof text - 1, 0);
    text[size > 0 ? size : 0] = 0;
    return size > 0 ? strtoll(text, NULL, 10) : -1;
}

// Of the children that have ended and were waited for: cutime and cstime of /proc/PID/stat, whose
// second word is a name in brackets that may hold brackets and blanks.
static int64_t ended_children_ns(int pid) {
    char path[32], text[STAT_MAX];
    unsigned long long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int file scope(close_fd) = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
    text[size > 0 ? size : 0] = 0;
    const char *rest = strrchr(text, ')');
    if (!rest || sscanf(rest, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %llu %llu",
                        &user, &system) != 2)
        return 0;
    return (int64_t)(user + system) * (1000000000 / sysconf(_SC_CLK_TCK));
}

static void list_processes(OsTreeCpu *cpu) {
    os_tree_read(&cpu->tree, cpu->root);
    cpu->children_ns = 0;
    for (int i = 0; i < cpu->tree.count; i++)
        cpu->children_ns += ended_children_ns(cpu->tree.pids[i]);
}

// The clock of a process that need not be ours: clock_getcpuclockid would ask the kernel each time.
static bool process_clock(int pid, int64_t *ns) {
    enum { CLOCK_OF_PROCESS = 2 };
    struct timespec used;
    if (clock_gettime((clockid_t)(~(unsigned)pid << 3 | CLOCK_OF_PROCESS), &used) < 0)
        return false;
    *ns = (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
    return true;
}

// False: a process has ended since they were listed. Its parent has its time now.
static bool add_up(const OsTreeCpu *cpu, int64_t *sum) {
    int64_t own;
    *sum = cpu->children_ns;
    for (int i = 0; i < cpu->tree.count; i++) {
        if (!process_clock(cpu->tree.pids[i], &own))
            return false;
        *sum += own;
    }
    return cpu->tree.count > 0;
}

void os_tree_cpu_start(OsTreeCpu *cpu, int pid) {
    os_tree_cpu_stop(cpu);
    cpu->root = pid;
    cpu->forks = open("/proc/sys/kernel/ns_last_pid", O_RDONLY | O_CLOEXEC);
}

int64_t os_tree_cpu_read(OsTreeCpu *cpu) {
    int64_t sum, root;
    if (!cpu->root)
        return -1;
    for (int i = 0; i < TRIES_MAX; i++) {
        int64_t forks = last_pid(cpu->forks);
        if (!cpu->tree.count || forks < 0 || forks != cpu->seen)
            list_processes(cpu);
        cpu->seen = forks;
        if (add_up(cpu, &sum)) {
            cpu->most_ns = sum > cpu->most_ns ? sum : cpu->most_ns;
            return cpu->most_ns;
        }
        cpu->tree.count = 0;
    }
    return process_clock(cpu->root, &root) ? cpu->most_ns : -1;
}

void os_tree_cpu_stop(OsTreeCpu *cpu) {
    if (cpu->root)
        close_fd(&cpu->forks);
    os_tree_release(&cpu->tree);
    *cpu = (OsTreeCpu){0};
}

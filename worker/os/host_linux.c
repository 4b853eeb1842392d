// See host.h. Linux: /proc, flock, clocks and waitid.
#include "worker/os/host.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__aarch64__)
#include <asm/hwcap.h>
#endif

#include "server/common/file.h"
#include "server/common/str.h"

static void cpu_name(char *out, size_t size) {
    Error ignored;
    char *text scope(free_ptr) = file_read("/proc/cpuinfo", 1 << 22, NULL, &ignored);
    char *name = text ? strstr(text, "model name") : NULL;
    name = name ? strchr(name, ':') : NULL;
    if (!name)
        return (void)snprintf(out, size, "unknown");
    name += 1 + strspn(name + 1, " \t");
    name[strcspn(name, "\n")] = 0;
    snprintf(out, size, "%s", name);
}

#if defined(__x86_64__)
// The levels of the x86-64 psABI. __builtin_cpu_supports checks the processor and the system.
static void isa_name(char out[32]) {
    int level = 1;
    __builtin_cpu_init();
    if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("ssse3") &&
        __builtin_cpu_supports("popcnt"))
        level = 2;
    if (level == 2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma"))
        level = 3;
    if (level == 3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        level = 4;
    snprintf(out, 32, "x86-64-v%d", level);
}
#elif defined(__aarch64__)
static void isa_name(char out[32]) {
    unsigned long has = getauxval(AT_HWCAP), has2 = getauxval(AT_HWCAP2);
    snprintf(out, 32, "%s",
             has2 & HWCAP2_SVE2    ? "armv9-a"
             : has & HWCAP_ASIMDDP ? "armv8.4-a"
             : has & HWCAP_ATOMICS ? "armv8.1-a"
                                   : "armv8-a");
}
#else
static void isa_name(char out[32]) {
    struct utsname name;
    snprintf(out, 32, "%.31s", uname(&name) == 0 ? name.machine : "unknown");
}
#endif

static double machine_memory(void) {
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

void os_host_facts(HostFacts *out) {
    struct utsname name;
    CgroupLimits limits;
    OsCpus *cpus scope(free_ptr) = xmalloc(sizeof *cpus);
    *out = (HostFacts){0};
    os_cgroup_limits("/proc/self/cgroup", "/sys/fs/cgroup", &limits);
    if (uname(&name) == 0) {
        snprintf(out->os, sizeof out->os, "%.60s %.60s", name.sysname, name.release);
        snprintf(out->arch, sizeof out->arch, "%.31s", name.machine);
    }
    cpu_name(out->cpu, sizeof out->cpu);
    os_cpus_allowed(cpus);
    out->logical_cores = cpus->count > 0 ? cpus->count : 1;
    out->physical_cores = os_physical_cores(cpus) > 0 ? os_physical_cores(cpus) : 1;
    isa_name(out->isa);
    out->cpu_quota = limits.cpus;
    double memory = machine_memory();
    if (limits.memory_bytes > 0 && limits.memory_bytes < memory)
        memory = limits.memory_bytes;
    out->memory_mib = (int)(memory / (1 << 20));
}

int os_lock_file(const char *path, Error *err) {
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_errno(err, "cannot open %s", path), -1;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    if (errno == EWOULDBLOCK)
        error_set(err, 0, "locked", "another worker uses %s", path);
    else
        error_errno(err, "cannot lock %s", path);
    close(fd);
    return -1;
}

// The file may have been removed or replaced while this function waited for the lock, so the path
// must still lead to the same file.
static int lock_path(const char *path, int kind) {
    struct stat opened, now;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return -1;
    if (flock(fd, kind) == 0 && fstat(fd, &opened) == 0 && stat(path, &now) == 0 &&
        opened.st_ino == now.st_ino && opened.st_dev == now.st_dev)
        return fd;
    close(fd);
    return -1;
}

int os_use(const char *path) {
    int fd = lock_path(path, LOCK_SH);
    if (fd >= 0 && futimens(fd, NULL) < 0)
        errno = 0; // not an error: a file of another user keeps its time
    return fd;
}

int os_seize(const char *path) {
    return lock_path(path, LOCK_EX | LOCK_NB);
}

static double clock_s(clockid_t id) {
    struct timespec now;
    clock_gettime(id, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void os_boot(OsBoot *out) {
    Error ignored;
    char *id scope(free_ptr) = file_read("/proc/sys/kernel/random/boot_id", 64, NULL, &ignored);
    *out = (OsBoot){.seconds = clock_s(CLOCK_BOOTTIME)};
    out->slept_s = out->seconds - clock_s(CLOCK_MONOTONIC);
    if (id)
        snprintf(out->id, sizeof out->id, "%.*s", (int)strcspn(id, "\n"), id);
}

int64_t os_disk_free(const char *path) {
    struct statvfs fs;
    if (statvfs(path, &fs) < 0)
        return -1;
    return (int64_t)fs.f_bavail * (int64_t)fs.f_frsize;
}

// ---- CPU time -----------------------------------------------------------------------------------

typedef struct ProcessTime {
    int pid, parent;
    double seconds; // its own and that of the children it has reaped
    bool ours;
} ProcessTime;

typedef struct ProcessTable {
    ProcessTime *rows;
    int count, capacity;
} ProcessTable;

static void release_table(ProcessTable *table) {
    free(table->rows);
}

// /proc/PID/stat: "pid (name) state ppid …". The name may contain ')', so the last one ends it.
static bool read_process(int pid, ProcessTime *out) {
    char path[32], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd scope(close_fd) = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (n <= 0)
        return false;
    text[n] = 0;
    unsigned long long times[4];
    const char *rest = strrchr(text, ')');
    if (!rest || sscanf(rest, ") %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu",
                        &out->parent, &times[0], &times[1], &times[2], &times[3]) != 5)
        return false;
    out->pid = pid;
    out->ours = false;
    out->seconds =
        (double)(times[0] + times[1] + times[2] + times[3]) / (double)sysconf(_SC_CLK_TCK);
    return true;
}

static void add_process(ProcessTable *table, int pid) {
    if (table->count == table->capacity) {
        table->capacity = table->capacity * 2 + 64;
        table->rows = xrealloc(table->rows, (size_t)table->capacity * sizeof *table->rows);
    }
    table->count += read_process(pid, &table->rows[table->count]);
}

static void read_processes(ProcessTable *table) {
    DIR *dir = opendir("/proc");
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));) {
        long pid;
        if (isdigit((unsigned char)entry->d_name[0]) && parse_long(entry->d_name, 1, 1 << 30, &pid))
            add_process(table, (int)pid);
    }
    closedir(dir);
}

static bool is_ours(const ProcessTable *table, int pid) {
    for (int i = 0; i < table->count; i++)
        if (table->rows[i].pid == pid)
            return table->rows[i].ours;
    return false;
}

// Repeats until a round finds no more descendants, because parents may come after their children in
// the table.
static double sum_ours(ProcessTable *table) {
    double seconds = 0;
    int self = getpid();
    for (bool grew = true; grew;) {
        grew = false;
        for (int i = 0; i < table->count; i++) {
            ProcessTime *row = &table->rows[i];
            if (row->ours || (row->pid != self && !is_ours(table, row->parent)))
                continue;
            row->ours = grew = true;
            seconds += row->seconds;
        }
    }
    return seconds;
}

// First line of /proc/stat: user nice system idle iowait irq softirq steal, in ticks.
typedef struct CpuTicks {
    unsigned long long user, nice, system, idle, iowait, irq, softirq, steal;
} CpuTicks;

static CpuTicks read_ticks(void) {
    Error ignored;
    CpuTicks t = {0};
    char *text scope(free_ptr) = file_read("/proc/stat", 1 << 22, NULL, &ignored);
    if (text)
        (void)!sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t.user, &t.nice,
                      &t.system, &t.idle, &t.iowait, &t.irq, &t.softirq, &t.steal);
    return t;
}

static double tick_seconds(unsigned long long ticks) {
    return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

void os_cpu_use(CpuUse *out) {
    ProcessTable table scope(release_table) = {0};
    read_processes(&table);
    out->ours_s = sum_ours(&table);
    CpuTicks t = read_ticks();
    out->all_s = tick_seconds(t.user + t.nice + t.system + t.irq + t.softirq + t.steal);
    out->wall_s = out->all_s + tick_seconds(t.idle + t.iowait);
}

// From the line "pswpin N" of /proc/vmstat, which counts pages.
static double swapped_in_mib(void) {
    Error ignored;
    char *text scope(free_ptr) = file_read("/proc/vmstat", 1 << 20, NULL, &ignored);
    const char *line = text ? strstr(text, "\npswpin ") : NULL;
    double pages = line ? (double)strtoull(line + strlen("\npswpin "), NULL, 10) : 0;
    return pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

void os_host_load(HostLoad *out) {
    CpuTicks t = read_ticks();
    out->stolen_s = tick_seconds(t.steal);
    out->wall_s =
        tick_seconds(t.user + t.nice + t.system + t.idle + t.iowait + t.irq + t.softirq + t.steal);
    out->swapped_in_mib = swapped_in_mib();
}

// ---- processes ----------------------------------------------------------------------------------

int os_exit_status(const OsProcess *process) {
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || !info.si_pid)
        return -1;
    return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

int os_count_running(const char *program) {
    struct stat wanted, found;
    int count = 0;
    DIR *dir = stat(program, &wanted) == 0 ? opendir("/proc") : NULL;
    if (!dir)
        return 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[300];
        snprintf(path, sizeof path, "%s/exe", entry->d_name);
        count += isdigit((unsigned char)entry->d_name[0]) &&
                 fstatat(dirfd(dir), path, &found, 0) == 0 && found.st_ino == wanted.st_ino &&
                 found.st_dev == wanted.st_dev;
    }
    closedir(dir);
    return count;
}

int os_nice(void) {
    return getpriority(PRIO_PROCESS, 0);
}

bool os_set_nice(int nice, Error *err) {
    return setpriority(PRIO_PROCESS, 0, nice) == 0 ||
           error_errno(err, "cannot set niceness %d", nice);
}

// See cpu_time.h. Linux has both numbers of a thread in /proc/PID/task/TID/schedstat. The files
// stay open, so that a reading needs one system call per thread.
#include "worker/os/cpu_time.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server/common/str.h"

enum { SCHEDSTAT_MAX = 96, CHILDREN_MAX = 4096, STAT_MAX = 1 << 17 };

// ---- one thread ---------------------------------------------------------------------------------

// The file holds "ON-CPU-NS READY-NS SLICES". False: the thread has ended.
static bool read_schedstat(int file, OsUsage *out) {
    char text[SCHEDSTAT_MAX], *end;
    ssize_t size = pread(file, text, sizeof text - 1, 0);
    if (size <= 0)
        return false;
    text[size] = 0;
    out->cpu_ns = strtoll(text, &end, 10);
    out->delay_ns = strtoll(end, NULL, 10);
    return true;
}

int os_thread_usage_open(void) {
    return open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
}

bool os_thread_usage(int file, OsUsage *out) {
    return file >= 0 && read_schedstat(file, out);
}

static void task_add_up(OsMeter *meter, struct OsTask *task) {
    OsUsage now;
    if (!read_schedstat(task->file, &now))
        return;
    meter->delay_ns += now.delay_ns - task->delay_ns;
    task->delay_ns = now.delay_ns;
}

// ---- the tree -----------------------------------------------------------------------------------

static bool is_known(const OsMeter *meter, int id) {
    for (int i = 0; i < meter->count; i++)
        if (meter->tasks[i].id == id)
            return true;
    return false;
}

static void add_task(OsMeter *meter, int process, int id) {
    char path[64];
    if (meter->count == OS_TASKS_MAX || is_known(meter, id))
        return;
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", process, id);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0)
        meter->tasks[meter->count++] = (struct OsTask){.id = id, .process = process, .file = file};
}

static void close_dir(DIR **dir) {
    if (*dir)
        closedir(*dir);
}

static void add_threads(OsMeter *meter, int process) {
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/task", process);
    scope(close_dir) DIR *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (entry->d_name[0] != '.')
            add_task(meter, process, (int)strtol(entry->d_name, NULL, 10));
}

// Adds the processes that this thread has started. The system lists children by the thread that
// started them.
static void add_children(OsMeter *meter, const struct OsTask *task) {
    char path[64], text[CHILDREN_MAX];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", task->process, task->id);
    scope(close_fd) int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? 0 : read(file, text, sizeof text - 1);
    text[size > 0 ? size : 0] = 0;
    char *at = text;
    for (long pid; (pid = strtol(at, &at, 10)) > 0;)
        if (!is_known(meter, (int)pid))
            add_threads(meter, (int)pid);
}

static void forget_ended(OsMeter *meter) {
    int kept = 0;
    for (int i = 0; i < meter->count; i++) {
        OsUsage now;
        if (read_schedstat(meter->tasks[i].file, &now))
            meter->tasks[kept++] = meter->tasks[i];
        else
            close(meter->tasks[i].file);
    }
    meter->count = kept;
}

// The loop visits the children that it appends, so it finds the whole tree.
static void scan(OsMeter *meter) {
    forget_ended(meter);
    add_threads(meter, meter->root);
    for (int i = 0; i < meter->count; i++) {
        struct OsTask task = meter->tasks[i];
        if (i == 0 || task.process != meter->tasks[i - 1].process)
            add_threads(meter, task.process);
        add_children(meter, &task);
    }
    meter->scanned_ns = os_now_ns();
}

void os_meter_start(OsMeter *meter, int pid) {
    os_meter_stop(meter);
    meter->root = pid;
    os_tree_cpu_start(&meter->cpu, pid);
}

int64_t os_meter_cpu(OsMeter *meter) {
    return os_tree_cpu_read(&meter->cpu);
}

bool os_meter_read(OsMeter *meter, int64_t scan_age_ns, OsUsage *out) {
    if (!meter->root)
        return false;
    if (os_now_ns() - meter->scanned_ns > scan_age_ns)
        scan(meter);
    for (int i = 0; i < meter->count; i++)
        task_add_up(meter, &meter->tasks[i]);
    *out = (OsUsage){os_tree_cpu_read(&meter->cpu), meter->delay_ns};
    return meter->count > 0 && out->cpu_ns >= 0;
}

void os_meter_stop(OsMeter *meter) {
    for (int i = 0; i < meter->count; i++)
        close(meter->tasks[i].file);
    meter->root = meter->count = 0;
    meter->scanned_ns = meter->delay_ns = 0;
    os_tree_cpu_stop(&meter->cpu);
}

// ---- the hypervisor -----------------------------------------------------------------------------

// The eighth number, in ticks, of a line "cpuN user nice system idle iowait irq softirq steal …".
static int64_t steal_of(const char *line) {
    char *at = (char *)line + strcspn(line, " ");
    int64_t value = 0;
    for (int i = 0; i < 8; i++)
        value = strtoll(at, &at, 10);
    return value;
}

static const char *line_of(const char *text, const char *name) {
    size_t length = strlen(name);
    for (const char *at = text; at && *at; at = strchr(at, '\n'), at += at != NULL)
        if (strncmp(at, name, length) == 0 && at[length] == ' ')
            return at;
    return NULL;
}

static int64_t steal_ticks(const char *text, const int *ids, int count) {
    char name[16];
    int64_t sum = 0;
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "cpu%d", ids[i]);
        const char *line = line_of(text, name);
        sum += line ? steal_of(line) : 0;
    }
    if (count)
        return sum;
    const char *all = line_of(text, "cpu");
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return all ? steal_of(all) / (online > 0 ? online : 1) : 0;
}

// The lines of the CPUs come first in /proc/stat. The rest of the file is not read.
int64_t os_stolen_ns(const int *ids, int count) {
    scope(close_fd) int file = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    scope(free_ptr) char *text = xmalloc(STAT_MAX);
    ssize_t size = file < 0 ? 0 : read(file, text, STAT_MAX - 1);
    text[size > 0 ? size : 0] = 0;
    return steal_ticks(text, ids, count) * (1000000000 / sysconf(_SC_CLK_TCK));
}

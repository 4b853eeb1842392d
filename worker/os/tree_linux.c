// See tree.h. Reads /proc. A process may end while it is read; then it counts as using nothing.
#include "worker/os/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "server/common/str.h"

enum { PIDS_MAX = 100000, PATH_ROOM = 96, STATUS_ROOM = 4096 };
enum { INODE_BYTES = 1024, TMPFS = 0x01021994, BLOCK = 512 };

void os_tree_release(OsTree *tree) {
    free(tree->pids);
    *tree = (OsTree){0};
}

static void tree_add(OsTree *tree, int pid) {
    if (tree->count == tree->capacity) {
        tree->capacity = tree->capacity * 2 + 16;
        tree->pids = xrealloc(tree->pids, (size_t)tree->capacity * sizeof *tree->pids);
    }
    if (tree->count < PIDS_MAX)
        tree->pids[tree->count++] = pid;
}

// Reads a short file of /proc. False: it does not exist.
static bool read_text(const char *path, char *text, size_t size) {
    int fd scope(close_fd) = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
    text[n > 0 ? n : 0] = 0;
    return n > 0;
}

// Reads the file of a thread's children, which holds process ids separated by blanks.
static void add_children(OsTree *tree, int pid, long thread) {
    char path[PATH_ROOM], chunk[4096];
    snprintf(path, sizeof path, "/proc/%d/task/%ld/children", pid, thread);
    int fd scope(close_fd) = open(path, O_RDONLY | O_CLOEXEC);
    int number = 0;
    for (ssize_t n; fd >= 0 && (n = read(fd, chunk, sizeof chunk)) > 0;)
        for (ssize_t i = 0; i < n; i++) {
            if (chunk[i] != ' ') {
                number = number * 10 + (chunk[i] - '0');
            } else {
                tree_add(tree, number);
                number = 0;
            }
        }
}

static void close_dir(DIR **dir) {
    if (*dir)
        closedir(*dir);
}

static void add_children_of_all_threads(OsTree *tree, int pid) {
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *dir scope(close_dir) = opendir(path);
    long thread;
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (parse_long(entry->d_name, 1, 1L << 30, &thread))
            add_children(tree, pid, thread);
}

void os_children_read(OsTree *tree) {
    tree->count = 0;
    add_children(tree, getpid(), getpid());
}

static void add_descendants(OsTree *tree) {
    for (int i = 0; i < tree->count; i++)
        add_children_of_all_threads(tree, tree->pids[i]);
}

void os_tree_read(OsTree *tree, int pid) {
    tree->count = 0;
    tree_add(tree, pid);
    add_descendants(tree);
}

void os_tree_read_below(OsTree *tree, int pid) {
    tree->count = 0;
    add_children_of_all_threads(tree, pid);
    add_descendants(tree);
}

// The number after `name`, the beginning of a line in a file of /proc; -1 if there is no such line.
static int64_t field(const char *text, const char *name) {
    const char *at = strstr(text, name);
    long value = -1;
    return at && sscanf(at + strlen(name), "%ld", &value) == 1 ? value : -1;
}

// Reads the status of a process. Returns the thread whose files show its memory: if the first
// thread has ended and others still run, the files of the first thread show no memory.
static int read_status(int pid, char *text, size_t size) {
    char path[PATH_ROOM];
    long thread;
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    if (!read_text(path, text, size) || strstr(text, "\nVmRSS:") || field(text, "\nThreads:") < 2)
        return pid;
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *dir scope(close_dir) = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (!parse_long(entry->d_name, 1, 1L << 30, &thread))
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%ld/status", pid, thread);
        if (read_text(path, text, size) && strstr(text, "\nVmRSS:"))
            return (int)thread;
    }
    return pid;
}

static int64_t kib_of(const char *text, const char *name) {
    int64_t kib = field(text, name);
    return kib > 0 ? kib : 0;
}

// Pages of the pool of huge pages are not part of VmRSS.
static int64_t resident_kib(const char *status) {
    return kib_of(status, "\nVmRSS:") + kib_of(status, "\nVmSwap:") +
           kib_of(status, "\nHugetlbPages:");
}

// A descriptor may be a pipe with two pages in it, beside the structures of an open file. A thread
// has a stack of 16 KiB in the kernel.
enum { DESCRIPTOR_BYTES = 2 * 4096 + 1024, THREAD_BYTES = 32 << 10 };

void os_tree_use(const OsTree *tree, OsTreeUse *out) {
    char text[STATUS_ROOM];
    *out = (OsTreeUse){0};
    for (int i = 0; i < tree->count; i++) {
        read_status(tree->pids[i], text, sizeof text);
        int64_t threads = field(text, "\nThreads:");
        int64_t descriptors = field(text, "\nFDSize:");
        out->processes += threads > 0 ? (int)threads : 0;
        out->kernel_bytes += threads > 0 ? threads * THREAD_BYTES : 0;
        out->kernel_bytes += descriptors > 0 ? descriptors * DESCRIPTOR_BYTES : 0;
        int64_t tables = kib_of(text, "\nVmPTE:") << 10;
        out->table_bytes += tables;
        out->memory_bytes += tables + (resident_kib(text) << 10);
    }
}

// A process can make its smaps unreadable for others. Then all its resident memory counts.
void os_tree_memory(const OsTree *tree, OsTreeMemory *out) {
    char path[PATH_ROOM], status[STATUS_ROOM], text[STATUS_ROOM];
    *out = (OsTreeMemory){0};
    for (int i = 0; i < tree->count; i++) {
        int thread = read_status(tree->pids[i], status, sizeof status);
        int64_t own_kib = kib_of(status, "\nVmPTE:");
        snprintf(path, sizeof path, "/proc/%d/smaps_rollup", thread);
        if (read_text(path, text, sizeof text)) {
            own_kib += kib_of(text, "\nPss_Anon:") + kib_of(text, "\nSwapPss:") +
                       kib_of(status, "\nHugetlbPages:");
            out->shared_bytes += kib_of(text, "\nPss_Shmem:") << 10;
        } else {
            own_kib += resident_kib(status);
        }
        out->own_bytes += own_kib << 10;
    }
}

// Identifies the file system by its size, because a process that has not entered its sandbox yet
// sees a file system of the machine. Checks the last three processes, which are the innermost.
int64_t os_tree_tmpfs(const OsTree *tree, const char *path, int64_t size_bytes) {
    char inside[PATH_ROOM];
    for (int i = tree->count - 1; i >= 0 && i >= tree->count - 3; i--) {
        struct statfs fs;
        snprintf(inside, sizeof inside, "/proc/%d/root%.40s", tree->pids[i], path);
        if (statfs(inside, &fs) < 0 || fs.f_type != TMPFS ||
            (int64_t)fs.f_blocks != (size_bytes + fs.f_bsize - 1) / fs.f_bsize)
            continue;
        return (int64_t)(fs.f_blocks - fs.f_bfree) * fs.f_bsize +
               (int64_t)(fs.f_files - fs.f_ffree) * INODE_BYTES;
    }
    return 0;
}

// nftw passes no context to its callback.
static _Thread_local int64_t walked_bytes;

static int add_entry(const char *path, const struct stat *st, int type, struct FTW *ftw) {
    (void)path, (void)ftw;
    if (type != FTW_NS)
        walked_bytes += st->st_blocks * BLOCK + INODE_BYTES;
    return 0;
}

int64_t os_tree_folder(const OsTree *tree, const char *folder, bool *more) {
    enum { DESCRIPTORS = 32 };
    struct stat st;
    if (stat(folder, &st) < 0)
        return 0;
    walked_bytes = 0;
    nftw(folder, add_entry, DESCRIPTORS, FTW_PHYS | FTW_MOUNT);
    return walked_bytes + os_tree_deleted(tree, folder, st.st_dev, more);
}

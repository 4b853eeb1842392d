// See os_usage.h. Linux: /proc. Processes come and go while they are read; one that is gone uses
// nothing.
#include "os_usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "../server/common/str.h"

enum { PIDS_MAX = 100000, PATH_ROOM = 96, STAT_ROOM = 1024 };
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

// A short file of /proc; false when it is not there.
static bool read_text(const char *path, char *text, size_t size) {
    int fd scope(close_fd) = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
    text[n > 0 ? n : 0] = 0;
    return n > 0;
}

// The file of a thread's children: numbers with spaces between them.
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

void os_tree_read(OsTree *tree, int pid, bool strays) {
    tree->count = 0;
    tree_add(tree, pid);
    if (strays) {
        OsTree children scope(os_tree_release) = {0};
        os_children_read(&children);
        for (int i = 0; i < children.count; i++)
            if (children.pids[i] != pid && getpgid(children.pids[i]) == pid)
                tree_add(tree, children.pids[i]);
    }
    for (int i = 0; i < tree->count; i++)
        add_children_of_all_threads(tree, tree->pids[i]);
}

// /proc/PID/stat after the name, which may hold anything: threads are its 18th field from there,
// resident pages its 22nd.
void os_tree_use(const OsTree *tree, OsTreeUse *out) {
    char path[PATH_ROOM], text[STAT_ROOM];
    long threads, pages;
    *out = (OsTreeUse){0};
    for (int i = 0; i < tree->count; i++) {
        snprintf(path, sizeof path, "/proc/%d/stat", tree->pids[i]);
        const char *rest = read_text(path, text, sizeof text) ? strrchr(text, ')') : NULL;
        if (!rest || sscanf(rest,
                            ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
                            "%*d %ld %*d %*u %*u %ld",
                            &threads, &pages) != 2)
            continue;
        out->resident_bytes += pages * sysconf(_SC_PAGESIZE);
        out->processes += (int)threads;
    }
}

static int64_t rollup_kib(const char *text, const char *name) {
    const char *at = strstr(text, name);
    long kib = 0;
    return at && sscanf(at + strlen(name), "%ld", &kib) == 1 ? kib : 0;
}

// A process can forbid others to look at it so closely; then all that is resident counts.
static int64_t resident_kib(int pid) {
    char path[PATH_ROOM], text[STAT_ROOM];
    long pages = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", pid);
    if (!read_text(path, text, sizeof text) || sscanf(text, "%*u %ld", &pages) != 1)
        return 0;
    return pages * (sysconf(_SC_PAGESIZE) >> 10);
}

int64_t os_tree_memory(const OsTree *tree) {
    char path[PATH_ROOM], text[4096];
    int64_t kib = 0;
    for (int i = 0; i < tree->count; i++) {
        snprintf(path, sizeof path, "/proc/%d/smaps_rollup", tree->pids[i]);
        if (read_text(path, text, sizeof text))
            kib += rollup_kib(text, "Pss_Anon:") + rollup_kib(text, "Pss_Shmem:") +
                   rollup_kib(text, "SwapPss:");
        else
            kib += resident_kib(tree->pids[i]);
    }
    return kib << 10;
}

// By its size: a process that has not entered its sandbox yet sees the machine's own. The last ones
// are the deepest.
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

// nftw takes no context.
static _Thread_local int64_t walked_bytes;

static int add_entry(const char *path, const struct stat *st, int type, struct FTW *ftw) {
    (void)path, (void)ftw;
    if (type != FTW_NS)
        walked_bytes += st->st_blocks * BLOCK + INODE_BYTES;
    return 0;
}

static int64_t deleted_bytes(int pid, dev_t device) {
    char path[PATH_ROOM];
    int64_t bytes = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    DIR *dir scope(close_dir) = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        struct stat st;
        if (fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 && S_ISREG(st.st_mode) &&
            st.st_nlink == 0 && st.st_dev == device)
            bytes += st.st_blocks * BLOCK;
    }
    return bytes;
}

int64_t os_tree_folder(const OsTree *tree, const char *folder) {
    enum { DESCRIPTORS = 32 };
    struct stat st;
    if (stat(folder, &st) < 0)
        return 0;
    walked_bytes = 0;
    nftw(folder, add_entry, DESCRIPTORS, FTW_PHYS | FTW_MOUNT);
    for (int i = 0; i < tree->count; i++)
        walked_bytes += deleted_bytes(tree->pids[i], st.st_dev);
    return walked_bytes;
}

// See tree.h: files and memory that have no name any more. Descriptors and mappings hold them. Both
// are read from /proc, as far as a user may read files of processes of the same user.
#include "worker/os/tree.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "server/common/str.h"

// No compiler has so many mappings. The rest is not read, which would take too long, but counts as
// hidden.
enum { MAPPINGS_MAX = 20000, PATH_ROOM = 96, BLOCK = 512 };

// ---- files, each once ---------------------------------------------------------------------------

typedef struct Held {
    uint64_t inode;
    int64_t bytes;
    bool open; // held by a descriptor: `bytes` is the whole file
} Held;

typedef struct HeldFiles {
    Held *items;
    size_t count, capacity;
} HeldFiles;

static void held_release(HeldFiles *files) {
    free(files->items);
}

static void held_add(HeldFiles *files, uint64_t inode, int64_t bytes, bool open) {
    if (files->count == files->capacity) {
        files->capacity = files->capacity * 2 + 16;
        files->items = xrealloc(files->items, files->capacity * sizeof *files->items);
    }
    files->items[files->count++] = (Held){inode, bytes, open};
}

// Sorts by inode. Of the entries of one inode, the one with the best knowledge of its size comes
// first.
static int held_order(const void *left, const void *right) {
    const Held *a = left, *b = right;
    if (a->inode != b->inode)
        return a->inode < b->inode ? -1 : 1;
    if (a->open != b->open)
        return a->open ? -1 : 1;
    return a->bytes > b->bytes ? -1 : a->bytes < b->bytes;
}

static int64_t held_bytes(HeldFiles *files) {
    int64_t bytes = 0;
    if (files->count)
        qsort(files->items, files->count, sizeof *files->items, held_order);
    for (size_t i = 0; i < files->count; i++)
        if (i == 0 || files->items[i].inode != files->items[i - 1].inode)
            bytes += files->items[i].bytes;
    return bytes;
}

// ---- descriptors --------------------------------------------------------------------------------

static void close_dir(DIR **dir) {
    if (*dir)
        closedir(*dir);
}

static void add_open(HeldFiles *files, const char *folder, dev_t device) {
    DIR *dir scope(close_dir) = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        struct stat st;
        if (fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 && S_ISREG(st.st_mode) &&
            st.st_nlink == 0 && st.st_dev == device)
            held_add(files, st.st_ino, st.st_blocks * BLOCK, true);
    }
}

// Reads the descriptors of every thread, because a thread can have its own table of descriptors.
static void add_open_of_threads(HeldFiles *files, int pid, dev_t device) {
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *dir scope(close_dir) = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (!isdigit((unsigned char)*entry->d_name))
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/fd", pid, entry->d_name);
        add_open(files, path, device);
    }
}

// ---- mappings -----------------------------------------------------------------------------------

typedef struct Mapping {
    uint64_t inode;
    int64_t end;      // offset in the file after the last mapped byte
    const char *path; // "" for anonymous memory
    bool deleted;
} Mapping;

// Parses "7f00-7f80 rw-s 00001000 08:01 1234    /folder/name (deleted)". The system escapes
// newlines in names.
static bool mapping_read(char *line, Mapping *out) {
    static const char mark[] = " (deleted)";
    unsigned long long start, end, offset, inode;
    int at = 0;
    size_t size = strcspn(line, "\n");
    line[size] = 0;
    if (sscanf(line, "%llx-%llx %*4s %llx %*x:%*x %llu %n", &start, &end, &offset, &inode, &at) < 4)
        return false;
    *out = (Mapping){inode, (int64_t)(offset + end - start), line + at, false};
    if (size >= sizeof mark && strcmp(line + size - (sizeof mark - 1), mark) == 0)
        out->deleted = true;
    return true;
}

typedef void Visit(void *ctx, const Mapping *mapping);

static void close_file(FILE **file) {
    if (*file)
        fclose(*file);
}

// False: not all mappings could be read. A process that has ended has no mappings.
static bool visit_file(const char *path, int *left, Visit *visit, void *ctx, bool *any) {
    char *line scope(free_ptr) = NULL;
    size_t room = 0;
    Mapping mapping;
    FILE *file scope(close_file) = fopen(path, "re");
    if (!file)
        return errno == ENOENT || errno == ESRCH;
    while (getline(&line, &room, file) > 0) {
        *any = true;
        if ((*left)-- <= 0)
            return false;
        if (mapping_read(line, &mapping))
            visit(ctx, &mapping);
    }
    return true;
}

// If the first thread has ended, its file shows no mappings, and those of other threads are read.
static bool visit_mappings(int pid, int *left, Visit *visit, void *ctx) {
    char path[PATH_ROOM];
    bool any = false;
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    bool all = visit_file(path, left, visit, ctx, &any);
    if (any || !all)
        return all;
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *dir scope(close_dir) = opendir(path);
    for (struct dirent *entry; !any && all && dir && (entry = readdir(dir));) {
        if (!isdigit((unsigned char)*entry->d_name))
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/maps", pid, entry->d_name);
        all = visit_file(path, left, visit, ctx, &any);
    }
    return all;
}

typedef struct Search {
    HeldFiles *files;
    const char *folder;
    size_t folder_size;
    bool found;
} Search;

static void add_mapped(void *ctx, const Mapping *mapping) {
    Search *search = ctx;
    if (!mapping->deleted || strncmp(mapping->path, search->folder, search->folder_size) != 0 ||
        mapping->path[search->folder_size] != '/')
        return;
    held_add(search->files, mapping->inode, mapping->end, false);
    search->found = true;
}

int64_t os_tree_deleted(const OsTree *tree, const char *folder, uint64_t device, bool *more) {
    char real[PATH_MAX];
    int left = MAPPINGS_MAX;
    HeldFiles files scope(held_release) = {0};
    Search search = {&files, realpath(folder, real) ? real : folder, 0, false};
    search.folder_size = strlen(search.folder);
    bool all = true;
    for (int i = 0; i < tree->count; i++) {
        add_open_of_threads(&files, tree->pids[i], (dev_t)device);
        all &= visit_mappings(tree->pids[i], &left, add_mapped, &search);
    }
    *more = search.found || !all;
    return held_bytes(&files);
}

// "/dev/zero (deleted)" is the kernel's name for anonymous shared memory.
static void find_shared(void *ctx, const Mapping *mapping) {
    Search *search = ctx;
    search->found |= mapping->deleted && strcmp(mapping->path, "/dev/zero (deleted)") == 0;
}

bool os_tree_shares(const OsTree *tree) {
    int left = MAPPINGS_MAX;
    Search search = {0};
    for (int i = 0; i < tree->count && !search.found; i++) {
        bool all = visit_mappings(tree->pids[i], &left, find_shared, &search);
        search.found |= !all;
    }
    return search.found;
}

// ---- the kernel's memory ------------------------------------------------------------------------

// The system permits about 65,530 mappings a process. A process can make them unreadable for
// others.
enum { MAPPING_BYTES = 256, MAPPINGS_OF_A_PROCESS = 1 << 16, LINES_ROOM = 1 << 16 };

static int64_t count_mappings(int pid) {
    char path[PATH_ROOM], chunk[LINES_ROOM];
    int64_t count = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    int fd scope(close_fd) = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == EACCES || errno == EPERM ? MAPPINGS_OF_A_PROCESS : 0;
    for (ssize_t n; (n = read(fd, chunk, sizeof chunk)) > 0;)
        for (const char *at = chunk; (at = memchr(at, '\n', (size_t)(chunk + n - at))); at++)
            count++;
    return count;
}

int64_t os_tree_mappings(const OsTree *tree, int64_t enough_bytes) {
    int64_t bytes = 0;
    for (int i = 0; i < tree->count && bytes < enough_bytes; i++)
        bytes += count_mappings(tree->pids[i]) * MAPPING_BYTES;
    return bytes;
}

// ---- the system ---------------------------------------------------------------------------------

// What is no memory of the kernel's own: free pages, pages of files and programs, and caches that
// the kernel gives back when memory runs short. PageTables belong to programs (VmPTE).
static int64_t kernel_kib(const char *name, int64_t kib) {
    static const char *const others[] = {"MemFree:",   "Buffers:",      "Cached:",    "SwapCached:",
                                         "AnonPages:", "SReclaimable:", "PageTables:"};
    if (strcmp(name, "MemTotal:") == 0)
        return kib;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i]) == 0)
            return -kib;
    return 0;
}

void os_system_use(const char *folder, OsSystemUse *out) {
    char line[128], name[64];
    long kib;
    struct statvfs fs;
    FILE *file scope(close_file) = fopen("/proc/meminfo", "re");
    *out = (OsSystemUse){0};
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%63s %ld", name, &kib) != 2)
            continue;
        out->kernel_bytes += kernel_kib(name, kib) * 1024;
        if (strcmp(name, "Shmem:") == 0)
            out->shared_bytes = (int64_t)kib << 10;
    }
    if (folder && statvfs(folder, &fs) == 0)
        out->disk_bytes = (int64_t)(fs.f_blocks - fs.f_bfree) * (int64_t)fs.f_frsize;
}

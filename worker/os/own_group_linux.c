// See own_group.h. The group is BASE/patchmate-TOKEN, where BASE is the group in which the worker
// was started and TOKEN a random number, so that a path which was written down long ago never means
// the group of another program. It has the subgroups "worker" and "job-N". The kernel lets a
// process move only where it may write to the groups above both places: therefore the worker moves
// itself first. The empty group of a worker that has ended stays where its user may not remove it;
// the next worker that starts in BASE does.
#include "worker/os/own_group.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "server/common/file.h"
#include "server/common/log.h"
#include "server/common/str.h"

enum { FACTS_MAX = 1 << 20, MAKE_TRIES = 10, TOKEN_DIGITS = 16 };
enum { ROUNDS_MAX = 500, ROUND_NS = 10000000 };

#define OWN "patchmate-"

static struct {
    int folder;
    bool counts_memory;
    char path[4096];
} own = {.folder = -1};

int os_own_group_folder(void) {
    return own.folder;
}

const char *os_own_group_path(void) {
    return own.path;
}

bool os_own_group_counts_memory(void) {
    return own.counts_memory;
}

const char *os_own_group_describe(void) {
    return own.folder < 0
               ? "watchdog: the worker counts memory and ends processes; a control group "
                 "would be stricter (VOLUNTEERS.md)"
           : own.counts_memory
               ? "control group: the kernel counts memory and ends all processes"
               : "control group: the kernel ends all processes; the worker counts memory";
}

bool os_group_write(int folder, const char *name, const char *text) {
    int file = openat(folder, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    bool good = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file >= 0)
        close(file);
    return good;
}

// ---- finding a group ----------------------------------------------------------------------------

// The path in the line "0::PATH". A path above the top of a container begins with "/..".
static char *own_path(const char *groups) {
    const char *line = strncmp(groups, "0::/", 4) == 0 ? groups : strstr(groups, "\n0::/");
    const char *path = line ? strchr(line, '/') : NULL;
    if (!path || strncmp(path, "/..", 3) == 0)
        return NULL;
    return xasprintf("%.*s", (int)strcspn(path, "\n"), path);
}

// The folder of `path` in the mount that a line of mountinfo tells: "ID PARENT DEVICE ROOT FOLDER …
// - TYPE …". A mount shows only what is below its ROOT. NULL: it is another mount.
static char *folder_in(const char *line, const char *path) {
    char root[4096], folder[4096];
    const char *type = strstr(line, " - ");
    if (!type || strncmp(type, " - cgroup2 ", 11) != 0 ||
        sscanf(line, "%*d %*d %*s %4095s %4095s", root, folder) != 2)
        return NULL;
    size_t size = strcmp(root, "/") == 0 ? 0 : strlen(root);
    const char *below = path + size;
    if (strncmp(path, root, size) != 0 || (*below && *below != '/'))
        return NULL;
    return xasprintf("%s%s", folder, strcmp(below, "/") == 0 ? "" : below);
}

char *os_own_group_find(const char *groups, const char *mounts) {
    char *path scope(free_ptr) = own_path(groups);
    char *lines scope(free_ptr) = xstrdup(mounts), *rest = lines, *folder = NULL;
    for (char *line; path && !folder && (line = strsep(&rest, "\n"));)
        folder = folder_in(line, path);
    return folder;
}

static char *find_base(void) {
    Error ignored;
    char *groups scope(free_ptr) = file_read("/proc/self/cgroup", FACTS_MAX, NULL, &ignored);
    char *mounts scope(free_ptr) = file_read("/proc/self/mountinfo", FACTS_MAX, NULL, &ignored);
    return groups && mounts ? os_own_group_find(groups, mounts) : NULL;
}

// A descriptor of the folder; -1: it is not a group of version 2.
static int open_group(const char *path) {
    struct statfs fs;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (folder < 0 || (fstatfs(folder, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC))
        return folder;
    close(folder);
    return -1;
}

// Root may make groups below any group. For other users a group must have been given to them:
// systemd has marked it, or the group above it is not theirs. (All groups of a user's own services
// can be written by that user, but systemd manages those that are not marked.)
static bool is_given(int base) {
    char mark = 0;
    if (geteuid() == 0)
        return true;
    if (faccessat(base, ".", W_OK, AT_EACCESS) < 0 ||
        faccessat(base, "cgroup.procs", W_OK, AT_EACCESS) < 0)
        return false;
    return (fgetxattr(base, "user.delegate", &mark, 1) == 1 && mark == '1') ||
           faccessat(base, "..", W_OK, AT_EACCESS) < 0;
}

// ---- walking through subgroups ------------------------------------------------------------------

// Calls `visit` for all entries of a folder; returns how often that was true. Async-signal-safe.
static int walk(int folder, bool (*visit)(int folder, const char *name)) {
    _Alignas(struct dirent64) char chunk[8192];
    int count = 0;
    lseek(folder, 0, SEEK_SET);
    for (ssize_t n; (n = getdents64(folder, chunk, sizeof chunk)) > 0;)
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *entry = (const struct dirent64 *)(chunk + at);
            count += visit(folder, entry->d_name);
            at += entry->d_reclen;
        }
    return count;
}

static bool is_workers(const char *name) {
    const char *token = name + strlen(OWN);
    return strncmp(name, OWN, strlen(OWN)) == 0 && strlen(token) == TOKEN_DIGITS &&
           strspn(token, "0123456789abcdef") == TOKEN_DIGITS;
}

// The kernel refuses to remove a group that has processes or subgroups.
static bool remove_if_empty(int base, const char *name) {
    int group = is_workers(name) ? openat(base, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (group < 0)
        return false;
    unlinkat(group, "worker", AT_REMOVEDIR);
    close(group);
    return unlinkat(base, name, AT_REMOVEDIR) == 0;
}

// Removes the group of a job if it is empty; else kills what is in it and returns true.
static bool end_job(int folder, const char *name) {
    if (strncmp(name, "job-", 4) != 0 || unlinkat(folder, name, AT_REMOVEDIR) == 0)
        return false;
    int job = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    bool killed = job >= 0 && os_group_write(job, "cgroup.kill", "1");
    if (job >= 0)
        close(job);
    return killed;
}

int os_own_group_end_jobs(int folder) {
    int first = folder < 0 ? 0 : walk(folder, end_job);
    for (int round = 0, left = first; left && round < ROUNDS_MAX; round++) {
        nanosleep(&(struct timespec){0, ROUND_NS}, NULL);
        left = walk(folder, end_job);
    }
    return first;
}

int os_own_group_end_earlier(const char *path) {
    const char *name = strrchr(path, '/');
    int folder = name && is_workers(name + 1) ? open_group(path) : -1;
    if (folder < 0)
        return 0;
    int count = os_own_group_end_jobs(folder);
    unlinkat(folder, "worker", AT_REMOVEDIR);
    close_fd(&folder);
    rmdir(path);
    return count;
}

// ---- making the worker's group ------------------------------------------------------------------

// The files that the documentation of systemd names for a delegation.
static bool hand_over(int group, uid_t uid, gid_t gid) {
    static const char *const files[] = {".", "cgroup.procs", "cgroup.subtree_control",
                                        "cgroup.threads"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (fchownat(group, files[i], uid, gid, 0) < 0)
            return false;
    return true;
}

// Before Linux 5.14 a group cannot be killed.
static bool move_in(int group, uid_t uid, gid_t gid) {
    if (faccessat(group, "cgroup.kill", F_OK, 0) < 0 ||
        (geteuid() == 0 && !hand_over(group, uid, gid)) || mkdirat(group, "worker", 0755) < 0)
        return false;
    int leaf = openat(group, "worker", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool moved = leaf >= 0 && os_group_write(leaf, "cgroup.procs", "0");
    if (leaf >= 0)
        close(leaf);
    return moved;
}

// A descriptor of a new group with this process in it; -1 with errno: none, and nothing is left.
static int make_group(int base, uid_t uid, gid_t gid, char name[64]) {
    uint64_t token = 0;
    if (getrandom(&token, sizeof token, 0) != sizeof token)
        return -1;
    snprintf(name, 64, OWN "%0*" PRIx64, TOKEN_DIGITS, token);
    if (mkdirat(base, name, 0755) < 0)
        return -1;
    int group = openat(base, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (group >= 0 && move_in(group, uid, gid))
        return group;
    int problem = errno;
    if (group >= 0)
        close(group);
    remove_if_empty(base, name);
    errno = problem;
    return -1;
}

// The kernel refuses it for a group that has processes of its own, and for one above which it is
// not enabled. Root was given no group, so it enables nothing in BASE.
static bool enable_memory(int base, int group) {
    if (geteuid() != 0)
        os_group_write(base, "cgroup.subtree_control", "+memory");
    return os_group_write(group, "cgroup.subtree_control", "+memory");
}

// Another worker that starts may remove the group while it is still empty: then it is made again.
void os_own_group_start(uid_t uid, gid_t gid) {
    char name[64];
    char *path scope(free_ptr) = find_base();
    int base = path ? open_group(path) : -1;
    if (base < 0 || !is_given(base)) {
        log_debug("no control group: none was given to this worker");
        if (base >= 0)
            close_fd(&base);
        return;
    }
    walk(base, remove_if_empty);
    for (int i = 0; i < MAKE_TRIES && own.folder < 0; i++)
        own.folder = make_group(base, uid, gid, name);
    if (own.folder < 0) {
        log_debug("cannot make a control group in %s: %s", path, strerror(errno));
    } else {
        own.counts_memory = enable_memory(base, own.folder);
        snprintf(own.path, sizeof own.path, "%s/%s", path, name);
    }
    close_fd(&base);
}

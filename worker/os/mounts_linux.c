// See mounts.h. In a user namespace of its own a process may mount. It builds a small file system
// in memory from clones of the machine's mounts, makes it the root and lets go of the old one.
// mount_setattr() only adds restrictions to a clone, so the flags that a user must not remove from
// a mount of the machine stay.
#include "worker/os/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "server/common/str.h"
#include "worker/os/landlock.h"

enum { PATH_ROOM = 4096, LINK_ROOM = 256, MAP_ROOM = 64, CAPABILITIES_MAX = 64 };

// ---- the user -----------------------------------------------------------------------------------

static bool write_text(const char *path, const char *text, size_t size) {
    int fd scope(close_fd) = open(path, O_WRONLY | O_CLOEXEC);
    return fd >= 0 && write(fd, text, size) == (ssize_t)size;
}

static size_t put_number(char *to, unsigned number) {
    char digits[16];
    size_t count = 0, size = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count)
        to[size++] = digits[--count];
    return size;
}

// The line "ID ID 1": this number alone exists in the namespace, and means the same outside.
static bool keep_number(const char *path, unsigned number) {
    char line[MAP_ROOM];
    size_t size = put_number(line, number);
    line[size++] = ' ';
    size += put_number(line + size, number);
    memcpy(line + size, " 1\n", 3);
    return write_text(path, line, size + 3);
}

// A process that was root and became another user may not write its own maps, unless it declares
// itself dumpable.
static bool make_namespaces(void) {
    unsigned user = geteuid(), group = getegid();
    int dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 || prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
        return false;
    bool mapped = write_text("/proc/self/setgroups", "deny", 4) &&
                  keep_number("/proc/self/uid_map", user) &&
                  keep_number("/proc/self/gid_map", group);
    int problem = errno;
    prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0);
    errno = problem;
    return mapped && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

// With an empty bounding set, a program gets none back by being started as user 0.
static bool drop_capabilities(void) {
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    for (int i = 0; i < CAPABILITIES_MAX; i++)
        if (prctl(PR_CAPBSET_DROP, i, 0, 0, 0) < 0 && errno != EINVAL) // a number without meaning
            return false;
    return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0 &&
           syscall(SYS_capset, &head, none) == 0;
}

// ---- the files ----------------------------------------------------------------------------------

// The descriptor of a clone of what is at `path`, with all that is mounted below it; -1: none.
static int clone_mounts(const char *path, bool writable) {
    struct mount_attr more = {.attr_set = MOUNT_ATTR_NOSUID |
                                          (writable ? MOUNT_ATTR_NODEV : MOUNT_ATTR_RDONLY)};
    int fd = open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
    if (fd < 0 || mount_setattr(fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &more, sizeof more) == 0)
        return fd;
    close_fd(&fd);
    return -1;
}

// Makes the folders above `path` in the new root, which is the working folder. Returns `path`
// relative to it; NULL: it could not.
static const char *make_above(const char *path) {
    char above[PATH_ROOM];
    size_t size = strlen(path);
    if (*path != '/' || size >= sizeof above)
        return errno = EINVAL, NULL;
    memcpy(above, path, size + 1);
    for (char *slash = strchr(above + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(above + 1, 0755) < 0 && errno != EEXIST)
            return NULL;
        *slash = '/';
    }
    return path + 1;
}

// Mounts a clone in the new root, at the path that it has on the machine.
static bool attach(int clone, const char *path) {
    struct stat st;
    const char *to = make_above(path);
    if (clone < 0 || !to || fstat(clone, &st) < 0)
        return false;
    int made = S_ISDIR(st.st_mode) ? mkdir(to, 0755) : mknod(to, S_IFREG | 0644, 0);
    return (made == 0 || errno == EEXIST) &&
           move_mount(clone, "", AT_FDCWD, to, MOVE_MOUNT_F_EMPTY_PATH) == 0;
}

// What this machine does not have is left out.
static bool bring(const char *path) {
    if (access(path, F_OK) < 0 && errno == ENOENT)
        return true;
    int clone scope(close_fd) = clone_mounts(path, false);
    return attach(clone, path);
}

static bool bring_all(const char *const *paths) {
    for (; *paths; paths++)
        if (!bring(*paths))
            return false;
    return true;
}

// /bin, /lib and so on are links into /usr on newer systems and folders on older ones.
static bool bring_programs(void) {
    char target[LINK_ROOM];
    for (const char *const *path = os_system_programs; *path; path++) {
        ssize_t size = readlink(*path, target, sizeof target - 1);
        target[size > 0 ? size : 0] = 0;
        const char *to = size > 0 ? make_above(*path) : NULL;
        if (size > 0 ? !to || symlink(target, to) < 0 : !bring(*path))
            return false;
    }
    return true;
}

// The new root covers /tmp while it is filled, because every system has that folder and none of
// the files that are needed lie there but the given folder, which is cloned before.
static bool fill(const char *folder, bool writable) {
    static const char place[] = "/tmp";
    int clone scope(close_fd) = clone_mounts(folder, writable);
    return clone >= 0 &&
           mount("root", place, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=755,size=64k") ==
               0 &&
           chdir(place) == 0 && bring_programs() && bring_all(os_system_texts) &&
           bring_all(os_system_devices) && attach(clone, folder);
}

// The old root lies below the new one after pivot_root(".", "."): pivot_root(2).
static bool change_root(void) {
    struct mount_attr fixed = {.attr_set = MOUNT_ATTR_RDONLY};
    return syscall(SYS_pivot_root, ".", ".") == 0 && umount2(".", MNT_DETACH) == 0 &&
           chdir("/") == 0 && mount_setattr(AT_FDCWD, "/", 0, &fixed, sizeof fixed) == 0;
}

bool os_mounts_enter(const char *folder, bool writable) {
    return make_namespaces() && fill(folder, writable) && change_root() && drop_capabilities();
}

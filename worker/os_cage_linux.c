// See os_cage.h. Landlock, whose calls glibc does not have, and seccomp. The ruleset is made in the
// child: it takes nothing but system calls, and so no descriptor lives longer than it is needed.
#include "os_cage.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// What the kernel's header of Debian 12 does not know yet, and the version that brought it.
enum { VERSION_REFER = 2, VERSION_TRUNCATE = 3, VERSION_NET = 4, VERSION_IOCTL = 5 };
enum { VERSION_SCOPES = 6 };
static const uint64_t access_truncate = UINT64_C(1) << 14, access_ioctl = UINT64_C(1) << 15,
                      net_all = 3, scopes_all = 3;

typedef struct Ruleset {
    uint64_t files, net, scopes;
} Ruleset;

static const uint64_t read_rights = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
                      run_rights = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR |
                                   LANDLOCK_ACCESS_FS_EXECUTE,
                      device_rights = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE,
                      // Everything but devices and sockets.
    work_rights = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR |
                  LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                  LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                  LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                  LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM |
                  LANDLOCK_ACCESS_FS_REFER | (UINT64_C(1) << 14);

// What a compiler and a dynamically linked program need, and what an engine asks about CPUs.
static const char *const programs[] = {"/usr",   "/bin",   "/sbin",   "/lib",
                                       "/lib32", "/lib64", "/libx32", "/etc/alternatives"};
static const char *const texts[] = {"/etc/ld.so.cache",        "/etc/ld.so.conf",
                                    "/etc/ld.so.conf.d",       "/proc/cpuinfo",
                                    "/proc/meminfo",           "/proc/sys/vm/overcommit_memory",
                                    "/sys/devices/system/cpu", "/sys/devices/system/node"};
static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                      "/dev/urandom"};
#define COUNT(list) (sizeof(list) / sizeof *(list))

static uint64_t known_rights(int version) {
    uint64_t rights = (UINT64_C(1) << 13) - 1;
    rights |= version >= VERSION_REFER ? LANDLOCK_ACCESS_FS_REFER : 0;
    rights |= version >= VERSION_TRUNCATE ? access_truncate : 0;
    return rights | (version >= VERSION_IOCTL ? access_ioctl : 0);
}

static int open_ruleset(int version) {
    Ruleset rules = {known_rights(version), version >= VERSION_NET ? net_all : 0,
                     version >= VERSION_SCOPES ? scopes_all : 0};
    size_t size = version >= VERSION_SCOPES ? 24 : version >= VERSION_NET ? 16 : 8;
    return (int)syscall(SYS_landlock_create_ruleset, &rules, size, 0);
}

static bool allow(int ruleset, const char *path, uint64_t rights) {
    const uint64_t of_files = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                              LANDLOCK_ACCESS_FS_EXECUTE | access_truncate | access_ioctl;
    struct stat st;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT;
    bool folder = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
    struct landlock_path_beneath_attr rule = {.allowed_access = folder ? rights : rights & of_files,
                                              .parent_fd = fd};
    bool done = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
    close(fd);
    return done;
}

static bool allow_all(int ruleset, const char *const *paths, size_t count, uint64_t rights) {
    for (size_t i = 0; i < count; i++)
        if (!allow(ruleset, paths[i], rights))
            return false;
    return true;
}

static bool restrict_access(const OsLimits *limits) {
    uint64_t known = known_rights(limits->cage->access_version);
    int rules = open_ruleset(limits->cage->access_version);
    bool done =
        rules >= 0 && allow_all(rules, programs, COUNT(programs), run_rights) &&
        allow_all(rules, texts, COUNT(texts), read_rights) &&
        allow_all(rules, devices, COUNT(devices), device_rights) &&
        allow(rules, limits->cage_folder, limits->cage_writable ? work_rights & known : run_rights);
    return done && syscall(SYS_landlock_restrict_self, rules, 0) == 0;
}

static bool restrict_calls(const OsCage *cage) {
    struct sock_fprog program = {(unsigned short)cage->size, (struct sock_filter *)cage->filter};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

// A file of its own for each command: it is read to its end.
static bool hand_over(const OsCage *cage) {
    size_t size = cage->size * sizeof *cage->filter;
    int fd = memfd_create("filter", MFD_CLOEXEC);
    return fd >= 0 && write(fd, cage->filter, size) == (ssize_t)size &&
           lseek(fd, 0, SEEK_SET) == 0 && dup2(fd, OS_CAGE_FD) == OS_CAGE_FD &&
           fcntl(OS_CAGE_FD, F_SETFD, 0) == 0;
}

bool os_cage_enter(const OsLimits *limits) {
    if (limits->cage->kind == OS_CAGE_HANDED)
        return hand_over(limits->cage);
    umask(077); // chmod may not give rights to others either: os_filter_linux.c
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && restrict_access(limits) &&
           restrict_calls(limits->cage);
}

bool os_cage_knows_signals(const OsCage *cage) {
    return cage->access_version >= VERSION_SCOPES;
}

bool os_cage_init(OsCage *cage, OsCageKind kind, Error *err) {
    *cage = (OsCage){.kind = kind};
    if (kind == OS_CAGE_HANDED)
        return os_filter_make(cage, false, false, err);
    int version =
        (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1)
        return error_set(err, 0, "no_landlock",
                         version < 0 && errno == EOPNOTSUPP
                             ? "Landlock is switched off in this kernel (lsm=landlock,…)"
                             : "this kernel has no Landlock");
    cage->access_version = version;
    return os_filter_make(cage, true, !os_cage_knows_signals(cage), err);
}

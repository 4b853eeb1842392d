// See landlock.h. glibc has no functions for these system calls. The ruleset is made just before it
// is applied, so that its descriptor is not open for longer than needed.
#include "worker/os/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Features that the kernel header of Debian 12 does not have yet, and the versions that added them.
enum { VERSION_TRUNCATE = 3, VERSION_NET = 4, VERSION_IOCTL = 5 };
static const uint64_t access_truncate = UINT64_C(1) << 14, access_ioctl = UINT64_C(1) << 15,
                      net_all = 3, scopes_all = 3;

typedef struct Ruleset {
    uint64_t files, net, scopes;
} Ruleset;

static const uint64_t read_rights = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
                      run_rights = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR |
                                   LANDLOCK_ACCESS_FS_EXECUTE,
                      device_rights = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE,
                      // All rights except those to make devices and sockets.
    work_rights = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR |
                  LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                  LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                  LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                  LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM |
                  LANDLOCK_ACCESS_FS_REFER | (UINT64_C(1) << 14);

// What a compiler and a dynamically linked program need, and where engines read facts about CPUs.
const char *const os_system_programs[] = {
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/alternatives", NULL};
const char *const os_system_texts[] = {"/etc/ld.so.cache",
                                       "/etc/ld.so.conf",
                                       "/etc/ld.so.conf.d",
                                       "/proc/cpuinfo",
                                       "/proc/meminfo",
                                       "/proc/sys/vm/overcommit_memory",
                                       "/sys/devices/system/cpu",
                                       "/sys/devices/system/node",
                                       NULL};
const char *const os_system_devices[] = {"/dev/null",   "/dev/zero",    "/dev/full",
                                         "/dev/random", "/dev/urandom", NULL};

static uint64_t known_rights(int version) {
    uint64_t rights = (UINT64_C(1) << 13) - 1;
    rights |= version >= OS_LANDLOCK_REFER ? LANDLOCK_ACCESS_FS_REFER : 0;
    rights |= version >= VERSION_TRUNCATE ? access_truncate : 0;
    return rights | (version >= VERSION_IOCTL ? access_ioctl : 0);
}

static int open_ruleset(int version) {
    Ruleset rules = {known_rights(version), version >= VERSION_NET ? net_all : 0,
                     version >= OS_LANDLOCK_SCOPES ? scopes_all : 0};
    size_t size = version >= OS_LANDLOCK_SCOPES ? 24 : version >= VERSION_NET ? 16 : 8;
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

static bool allow_all(int ruleset, const char *const *paths, uint64_t rights) {
    for (; *paths; paths++)
        if (!allow(ruleset, *paths, rights))
            return false;
    return true;
}

int os_landlock_version(void) {
    return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

bool os_landlock_enter(int version, const OsGrant *grants) {
    int rules = open_ruleset(version);
    bool done = rules >= 0 && allow_all(rules, os_system_programs, run_rights) &&
                allow_all(rules, os_system_texts, read_rights) &&
                allow_all(rules, os_system_devices, device_rights);
    for (; done && grants->path; grants++)
        done = allow(rules, grants->path,
                     grants->writable ? work_rights & known_rights(version) : run_rights);
    return done && syscall(SYS_landlock_restrict_self, rules, 0) == 0;
}

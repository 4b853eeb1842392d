// See os_cage.h. Landlock (os_landlock.h) and seccomp.
#include "worker/os/lockdown.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "worker/os/inside.h"
#include "worker/os/landlock.h"

static bool restrict_calls(const OsCage *cage) {
    struct sock_fprog program = {(unsigned short)cage->size, (struct sock_filter *)cage->filter};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

static bool restrict_access(const OsLimits *limits) {
    const OsGrant grants[] = {{limits->cage_folder, limits->cage_writable}, {NULL, false}};
    return os_landlock_enter(limits->cage->access_version, grants);
}

// A file of its own for each command, which reads it to its end.
static bool hand_over(int as, const void *bytes, size_t size) {
    int fd = memfd_create("handed", MFD_CLOEXEC);
    return fd >= 0 && write(fd, bytes, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0 &&
           dup2(fd, as) == as && fcntl(as, F_SETFD, 0) == 0;
}

bool os_cage_enter(const OsLimits *limits) {
    const OsCage *cage = limits->cage;
    if (cage->kind == OS_CAGE_HANDED)
        return hand_over(OS_CAGE_FD, cage->filter, cage->size * sizeof *cage->filter) &&
               hand_over(OS_INIT_FD, os_inside_init, os_inside_init_size);
    umask(077); // chmod may not give rights to others either: os_filter_linux.c
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && restrict_access(limits) &&
           restrict_calls(limits->cage);
}

bool os_cage_knows_signals(const OsCage *cage) {
    return cage->access_version >= OS_LANDLOCK_SCOPES;
}

bool os_cage_init(OsCage *cage, OsCageKind kind, Error *err) {
    int version = os_landlock_version();
    *cage = (OsCage){.kind = kind};
    if (kind == OS_CAGE_HANDED) {
        // Without the right to move files between folders, as it was at first, builds fail.
        cage->access_version = version >= OS_LANDLOCK_REFER ? version : 0;
        return os_filter_make(cage, false, false, err);
    }
    if (version < 1)
        return error_set(err, 0, "no_landlock",
                         version < 0 && errno == EOPNOTSUPP
                             ? "Landlock is switched off in this kernel (lsm=landlock,…)"
                             : "this kernel has no Landlock");
    cage->access_version = version;
    return os_filter_make(cage, true, !os_cage_knows_signals(cage), err);
}

// See sandbox_profile.h. Mounts (mounts.h), Landlock (landlock.h) and seccomp.
#include "worker/os/sandbox_profile.h"

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
#include "worker/os/mounts.h"

static const OsFilter *filter_of(const OsLimits *limits) {
    return limits->plays ? &limits->profile->play : &limits->profile->build;
}

static bool restrict_calls(const OsFilter *filter) {
    struct sock_fprog program = {(unsigned short)filter->size, (struct sock_filter *)filter->code};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

static bool hide_files(const OsLimits *limits) {
    return limits->profile->kind != OS_PROFILE_HIDDEN ||
           os_mounts_enter(limits->profile_folder, limits->profile_writable);
}

static bool restrict_access(const OsLimits *limits) {
    const OsGrant grants[] = {{limits->profile_folder, limits->profile_writable}, {NULL, false}};
    return os_landlock_enter(limits->profile->access_version, grants);
}

// Each command gets its own file, because it reads the file to the end.
static bool hand_over(int as, const void *bytes, size_t size) {
    int fd = memfd_create("handed", MFD_CLOEXEC);
    return fd >= 0 && write(fd, bytes, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0 &&
           dup2(fd, as) == as && fcntl(as, F_SETFD, 0) == 0;
}

bool os_profile_enter(const OsLimits *limits) {
    const OsFilter *filter = filter_of(limits);
    if (limits->profile->kind == OS_PROFILE_HANDED)
        return hand_over(OS_PROFILE_FD, filter->code, filter->size * sizeof *filter->code) &&
               hand_over(OS_INIT_FD, os_inside_init, os_inside_init_size);
    umask(077); // seccomp_linux.c refuses a chmod that gives rights to other users
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && hide_files(limits) &&
           restrict_access(limits) && restrict_calls(filter);
}

bool os_profile_knows_signals(const OsProfile *profile) {
    return profile->access_version >= OS_LANDLOCK_SCOPES;
}

static bool make_filters(OsProfile *profile, OsFilterKind kind, Error *err) {
    OsFilterKind play = kind;
    play.play = true;
    return os_filter_make(&profile->build, kind, err) && os_filter_make(&profile->play, play, err);
}

bool os_profile_init(OsProfile *profile, OsProfileKind kind, Error *err) {
    int version = os_landlock_version();
    *profile = (OsProfile){.kind = kind};
    if (kind == OS_PROFILE_HANDED) {
        // Version 1 refuses to move files between folders, which builds need.
        profile->access_version = version >= OS_LANDLOCK_REFER ? version : 0;
        return make_filters(profile, (OsFilterKind){0}, err);
    }
    if (version < 1)
        return error_set(err, 0, "no_landlock",
                         version < 0 && errno == EOPNOTSUPP
                             ? "Landlock is disabled in this kernel (boot with lsm=landlock,…)"
                             : "this kernel has no Landlock");
    profile->access_version = version;
    OsFilterKind whole = {.whole = true, .signals = !os_profile_knows_signals(profile)};
    return make_filters(profile, whole, err);
}

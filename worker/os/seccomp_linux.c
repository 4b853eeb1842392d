// The system calls that are refused to strangers' programs, as a BPF program for seccomp.
//
// The list names refused calls, not allowed calls, because compilers and engines of every kind must
// run. It has the calls that access other processes, make namespaces, mounts or sockets, hide
// memory from the watchdog (watchdog.h), or have often had vulnerabilities. System calls that are
// newer than this list give ENOSYS.
#include "worker/os/sandbox_profile.h"

#include <errno.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "server/common/str.h"

static const int refused[] = {
    // other processes
    SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev),
    SCMP_SYS(process_madvise), SCMP_SYS(process_mrelease), SCMP_SYS(kcmp), SCMP_SYS(pidfd_getfd),
    SCMP_SYS(move_pages), SCMP_SYS(migrate_pages),
    // namespaces and mounts
    SCMP_SYS(unshare), SCMP_SYS(setns), SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(pivot_root),
    SCMP_SYS(chroot), SCMP_SYS(move_mount), SCMP_SYS(open_tree), SCMP_SYS(fsopen),
    SCMP_SYS(fsconfig), SCMP_SYS(fsmount), SCMP_SYS(fspick), SCMP_SYS(mount_setattr),
    SCMP_SYS(open_by_handle_at), SCMP_SYS(name_to_handle_at),
    // the network and other communication
    SCMP_SYS(socket), SCMP_SYS(socketpair), SCMP_SYS(mq_open), SCMP_SYS(mq_unlink),
    SCMP_SYS(msgget), SCMP_SYS(semget), SCMP_SYS(shmget),
    // parts of the kernel that have often had vulnerabilities, and modules
    SCMP_SYS(bpf), SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd), SCMP_SYS(io_uring_setup),
    SCMP_SYS(io_uring_enter), SCMP_SYS(io_uring_register), SCMP_SYS(keyctl), SCMP_SYS(add_key),
    SCMP_SYS(request_key), SCMP_SYS(fanotify_init), SCMP_SYS(lookup_dcookie), SCMP_SYS(init_module),
    SCMP_SYS(finit_module), SCMP_SYS(delete_module), SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load), SCMP_SYS(modify_ldt), SCMP_SYS(iopl), SCMP_SYS(ioperm),
    // the machine
    SCMP_SYS(reboot), SCMP_SYS(swapon), SCMP_SYS(swapoff), SCMP_SYS(acct), SCMP_SYS(quotactl),
    SCMP_SYS(quotactl_fd), SCMP_SYS(syslog), SCMP_SYS(settimeofday), SCMP_SYS(clock_settime),
    SCMP_SYS(clock_adjtime), SCMP_SYS(adjtimex), SCMP_SYS(sethostname), SCMP_SYS(setdomainname),
    SCMP_SYS(vhangup), SCMP_SYS(nfsservctl), SCMP_SYS(uselib), SCMP_SYS(sysfs), SCMP_SYS(ustat)};

// These calls give ENOSYS, so that programs use other calls instead.
static const int absent[] = {SCMP_SYS(clone3), SCMP_SYS(memfd_create), SCMP_SYS(memfd_secret),
                             SCMP_SYS(inotify_init), SCMP_SYS(inotify_init1)};

// Refused too where there are no namespaces. Landlock does not restrict changes of the rights,
// owners, times and attributes of files, and its first versions do not restrict truncation.
static const int refused_whole[] = {
    SCMP_SYS(setsid),       SCMP_SYS(truncate),  SCMP_SYS(chown),     SCMP_SYS(fchown),
    SCMP_SYS(lchown),       SCMP_SYS(fchownat),  SCMP_SYS(utime),     SCMP_SYS(utimes),
    SCMP_SYS(futimesat),    SCMP_SYS(setxattr),  SCMP_SYS(lsetxattr), SCMP_SYS(removexattr),
    SCMP_SYS(lremovexattr), SCMP_SYS(ioprio_set)};

// Neither do programs make rules or filters of their own, which hold much memory of the kernel. At
// the other level process 1 needs these calls, and refuses them then (inside/init.c).
static const int absent_whole[] = {SCMP_SYS(landlock_create_ruleset), SCMP_SYS(seccomp)};

// A call that is refused if one of its arguments has a certain value. The filter compares all 64
// bits of an argument, but for a number the kernel reads the lower 32 bits only and a program may
// set the upper ones to anything. Therefore IS compares the lower half. IS_NOT compares all bits:
// it also refuses the permitted number if an upper bit is set, which no honest program does.
typedef struct Case {
    int call;
    unsigned argument;
    enum scmp_compare compare;
    scmp_datum_t value, bits; // SCMP_CMP_MASKED_EQ: the mask, and the value of the masked bits
} Case;

#define MASKED(call, argument, mask, value)                                                        \
    { SCMP_SYS(call), argument, SCMP_CMP_MASKED_EQ, mask, value }
#define IS(call, argument, value) MASKED(call, argument, UINT32_MAX, value)
#define IS_NOT(call, argument, value)                                                              \
    { SCMP_SYS(call), argument, SCMP_CMP_NE, value, 0 }
#define HAS(call, argument, bit) MASKED(call, argument, bit, bit)

// Threads with tables of descriptors of their own would hold more than the watchdog knows of.
#define OWN_DESCRIPTORS(call, argument)                                                            \
    MASKED(call, argument, CLONE_THREAD | CLONE_FILES, CLONE_THREAD)

enum { FCNTL_SETLOCK = 6, FCNTL_SETLOCK_WAIT = 7, FCNTL_OFD_SETLOCK = 37, FCNTL_OFD_WAIT = 38 };
enum { FCNTL_SETOWN = 8, FCNTL_SETSIG = 10, FCNTL_SETOWN_EX = 15, FCNTL_SETPIPE_SIZE = 1031 };
enum { IOCTL_SETOWN = 0x8901, IOCTL_SETPGRP = 0x8902 };

static const Case cases[] = {HAS(clone, 0, CLONE_NEWNS),
                             HAS(clone, 0, CLONE_NEWCGROUP),
                             HAS(clone, 0, CLONE_NEWUTS),
                             HAS(clone, 0, CLONE_NEWIPC),
                             HAS(clone, 0, CLONE_NEWUSER),
                             HAS(clone, 0, CLONE_NEWPID),
                             HAS(clone, 0, CLONE_NEWNET),
                             OWN_DESCRIPTORS(clone, 0),
                             IS_NOT(personality, 0, 0),
                             IS(prctl, 0, PR_SET_SECCOMP),
                             IS(ioctl, 1, TIOCSTI),
                             IS(ioctl, 1, TIOCLINUX),
                             IS(fcntl, 1, FCNTL_SETPIPE_SIZE),
                             IS(setrlimit, 0, RLIMIT_RTTIME),
                             IS(prlimit64, 1, RLIMIT_RTTIME)}; // the mark: guard.h

// A file may have any number of locks on its bytes, all of them in the kernel's memory. These calls
// fail as on a file system without locks, and programs go on without them. flock is permitted: a
// descriptor has one such lock.
static const Case cases_locks[] = {IS(fcntl, 1, FCNTL_SETLOCK), IS(fcntl, 1, FCNTL_SETLOCK_WAIT),
                                   IS(fcntl, 1, FCNTL_OFD_SETLOCK), IS(fcntl, 1, FCNTL_OFD_WAIT)};

// A build needs chmod, because linkers use it to make their output executable. But the path may
// name any file of the same user. So the only allowed mode is 0700.
#define CHMOD(call, argument)                                                                      \
    HAS(call, argument, 04000), HAS(call, argument, 02000), HAS(call, argument, 01000),            \
        HAS(call, argument, 040), HAS(call, argument, 020), HAS(call, argument, 010),              \
        HAS(call, argument, 04), HAS(call, argument, 02), HAS(call, argument, 01),                 \
        MASKED(call, argument, 0400, 0), MASKED(call, argument, 0200, 0),                          \
        MASKED(call, argument, 0100, 0)

// A process must not change the limits, CPUs or priorities of other processes of the same user, nor
// send them signals through the owner of a file.
static const Case cases_whole[] = {CHMOD(chmod, 1),
                                   CHMOD(fchmodat, 2),
                                   HAS(fchmod, 1, 04000),
                                   HAS(fchmod, 1, 02000),
                                   IS_NOT(utimensat, 1, 0),
                                   IS_NOT(prlimit64, 0, 0),
                                   IS_NOT(sched_setscheduler, 0, 0),
                                   IS_NOT(sched_setparam, 0, 0),
                                   IS_NOT(sched_setattr, 0, 0),
                                   IS_NOT(setpriority, 0, 0),
                                   IS_NOT(setpriority, 1, 0),
                                   IS(fcntl, 1, FCNTL_SETOWN),
                                   IS(fcntl, 1, FCNTL_SETSIG),
                                   IS(fcntl, 1, FCNTL_SETOWN_EX),
                                   IS(ioctl, 1, IOCTL_SETOWN),
                                   IS(ioctl, 1, IOCTL_SETPGRP)};

static const Case cases_whole_build[] = {IS_NOT(sched_setaffinity, 0, 0)};

// Signal 0 only checks whether a process exists.
static const Case cases_signals[] = {IS_NOT(kill, 1, 0),
                                     IS_NOT(tkill, 1, 0),
                                     IS_NOT(tgkill, 2, 0),
                                     IS_NOT(rt_sigqueueinfo, 1, 0),
                                     IS_NOT(rt_tgsigqueueinfo, 2, 0),
                                     IS_NOT(pidfd_send_signal, 1, 0)};

// The last system call of the newest kernel for which this list was checked, and the last number
// that is refused in advance.
enum { CALL_YOUNGEST = 451, CALL_MOST = 511 };

#define COUNT(list) (sizeof(list) / sizeof *(list))

static int add_list(scmp_filter_ctx filter, uint32_t action, const int *calls, size_t count) {
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++)
        status = seccomp_rule_add(filter, action, calls[i], 0);
    return status;
}

static int add_cases(scmp_filter_ctx filter, int error, const Case *list, size_t count) {
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++) {
        const Case *c = &list[i];
        struct scmp_arg_cmp test = SCMP_CMP64(c->argument, c->compare, c->value, c->bits);
        status = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(error), c->call, 1, &test);
    }
    return status;
}

// Calls that do nothing and succeed, since engines end themselves where they fail.
static int pretend(scmp_filter_ctx filter, OsFilterKind kind) {
    int status = 0;
    // All processes must stay in the group that the keeper kills.
    if (kind.whole)
        status = seccomp_rule_add(filter, SCMP_ACT_ERRNO(0), SCMP_SYS(setpgid), 0);
    if (status == 0 && kind.play)
        status = seccomp_rule_add(filter, SCMP_ACT_ERRNO(0), SCMP_SYS(sched_setaffinity), 0);
    // The CPU time of children is lost if their parent ignores their ends (tree_cpu.h).
    if (status == 0 && kind.play)
        status = seccomp_rule_add(filter, SCMP_ACT_ERRNO(0), SCMP_SYS(rt_sigaction), 2,
                                  SCMP_A0_64(SCMP_CMP_MASKED_EQ, UINT32_MAX, SIGCHLD),
                                  SCMP_A1_64(SCMP_CMP_NE, 0, 0));
    return status;
}

static int add_rules(scmp_filter_ctx filter, OsFilterKind kind) {
    int status = add_list(filter, SCMP_ACT_ERRNO(EPERM), refused, COUNT(refused));
    if (status == 0)
        status = add_list(filter, SCMP_ACT_ERRNO(ENOSYS), absent, COUNT(absent));
    if (status == 0)
        status = add_cases(filter, EPERM, cases, COUNT(cases));
    if (status == 0)
        status = add_cases(filter, ENOLCK, cases_locks, COUNT(cases_locks));
    for (int call = CALL_YOUNGEST + 1; call <= CALL_MOST && status == 0; call++)
        status = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), call, 0);
    if (status == 0 && kind.whole)
        status = add_list(filter, SCMP_ACT_ERRNO(EPERM), refused_whole, COUNT(refused_whole));
    if (status == 0 && kind.whole)
        status = add_list(filter, SCMP_ACT_ERRNO(ENOSYS), absent_whole, COUNT(absent_whole));
    if (status == 0 && kind.whole)
        status = add_cases(filter, EPERM, cases_whole, COUNT(cases_whole));
    if (status == 0 && kind.whole && !kind.play)
        status = add_cases(filter, EPERM, cases_whole_build, COUNT(cases_whole_build));
    if (status == 0 && kind.signals)
        status = add_cases(filter, EPERM, cases_signals, COUNT(cases_signals));
    return status == 0 ? pretend(filter, kind) : status;
}

static bool export(OsFilter *out, scmp_filter_ctx filter) {
    int fd scope(close_fd) = memfd_create("filter", MFD_CLOEXEC);
    if (fd < 0 || seccomp_export_bpf(filter, fd) < 0)
        return false;
    ssize_t size = pread(fd, out->code, sizeof out->code, 0);
    out->size = size > 0 ? (size_t)size / sizeof *out->code : 0;
    return size > 0 && (size_t)size < sizeof out->code;
}

bool os_filter_make(OsFilter *out, OsFilterKind kind, Error *err) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int status = filter ? add_rules(filter, kind) : -ENOMEM;
    if (status == 0) // binary search in the filter, because engines make many calls
        status = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    bool made = status == 0 && export(out, filter);
    seccomp_release(filter);
    return made || error_set(err, 0, "no_filter", "cannot make a filter for system calls: %s",
                             strerror(status < 0 ? -status : EFBIG));
}

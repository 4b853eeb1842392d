// The filter for system calls, run on invented calls. A program may set the upper 32 bits of an
// argument of which the kernel reads the lower ones; no call may be permitted for that.
#include <errno.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "worker/os/sandbox_profile.h"

enum { CALLS_MAX = 512, ARGUMENTS = 6, REFUSED_EPERM = SECCOMP_RET_ERRNO | EPERM };

#ifdef __aarch64__
#define ARCH 0xC00000B7
#else
#define ARCH 0xC000003E // x86-64
#endif

static const uint64_t upper_bits[] = {UINT64_C(1) << 32, UINT64_C(1) << 63, UINT64_MAX << 32};

#define COUNT(list) (sizeof(list) / sizeof *(list))

// The filters as the levels of the sandbox have them.
static const OsFilterKind kinds[] = {{0},
                                     {.whole = true},
                                     {.whole = true, .signals = true},
                                     {.play = true},
                                     {.whole = true, .play = true}};

static void make(OsFilter *filter, OsFilterKind kind) {
    Error err;
    *filter = (OsFilter){0};
    if (!os_filter_make(filter, kind, &err))
        fail_msg("%s", err.message);
    assert_true(filter->size > 0);
}

static bool jumps(const struct sock_filter *step, uint32_t value) {
    switch (BPF_OP(step->code)) {
    case BPF_JEQ:
        return value == step->k;
    case BPF_JGT:
        return value > step->k;
    case BPF_JGE:
        return value >= step->k;
    case BPF_JSET:
        return value & step->k;
    default:
        fail_msg("jump %#x is not known", step->code);
        return false;
    }
}

// What the filter answers to a call: an interpreter of the instructions that libseccomp writes.
static uint32_t answer(const OsFilter *filter, const struct seccomp_data *data) {
    const struct sock_filter *steps = (const struct sock_filter *)filter->code;
    uint32_t value = 0;
    for (size_t at = 0; at < filter->size; at++) {
        const struct sock_filter *step = &steps[at];
        switch (step->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            memcpy(&value, (const char *)data + step->k, sizeof value);
            break;
        case BPF_ALU | BPF_AND | BPF_K:
            value &= step->k;
            break;
        case BPF_JMP | BPF_JA:
            at += step->k;
            break;
        case BPF_RET | BPF_K:
            return step->k;
        default:
            at += jumps(step, value) ? step->jt : step->jf;
        }
    }
    fail_msg("the filter has no end");
    return 0;
}

static uint32_t answer_to(const OsFilter *filter, int call, int argument, uint64_t value) {
    struct seccomp_data data = {.nr = call, .arch = ARCH};
    data.args[argument] = value;
    return answer(filter, &data);
}

// Every number with which the filter compares is tried as every argument of every call. A new rule
// is tried so too.
static void upper_bits_of_an_argument_permit_nothing(void **state) {
    (void)state;
    static OsFilter filter;
    for (size_t kind = 0; kind < COUNT(kinds); kind++) {
        make(&filter, kinds[kind]);
        const struct sock_filter *steps = (const struct sock_filter *)filter.code;
        for (size_t step = 0; step < filter.size; step++)
            for (int at = 0; at < CALLS_MAX * ARGUMENTS; at++) {
                int call = at / ARGUMENTS, argument = at % ARGUMENTS;
                uint64_t value = steps[step].k;
                if (answer_to(&filter, call, argument, value) == SECCOMP_RET_ALLOW)
                    continue;
                for (size_t i = 0; i < COUNT(upper_bits); i++)
                    if (answer_to(&filter, call, argument, value | upper_bits[i]) ==
                        SECCOMP_RET_ALLOW)
                        fail_msg("call %d is permitted if its argument %d is %#" PRIx64, call,
                                 argument, value | upper_bits[i]);
            }
    }
}

static void the_rules_tell_values_apart(void **state) {
    (void)state;
    enum { SETPIPE_SIZE = 1031, SETOWN = 8, SETLOCK = 6, OFD_SETLOCK = 37, THREAD = 0x3d0f00 };
    enum { NO_LOCKS = SECCOMP_RET_ERRNO | ENOLCK, NO_CALL = SECCOMP_RET_ERRNO | ENOSYS };
    static const struct {
        int call, argument;
        uint64_t value;
        uint32_t spaces, whole; // the answers at level 2, which has namespaces, and at level 1
    } rows[] = {
        {SYS_prlimit64, 1, RLIMIT_RTTIME, REFUSED_EPERM, REFUSED_EPERM},
        {SYS_prlimit64, 1, RLIMIT_CPU, SECCOMP_RET_ALLOW, SECCOMP_RET_ALLOW},
        {SYS_prlimit64, 0, 77, SECCOMP_RET_ALLOW, REFUSED_EPERM},
        {SYS_fcntl, 1, SETPIPE_SIZE, REFUSED_EPERM, REFUSED_EPERM},
        {SYS_fcntl, 1, SETOWN, SECCOMP_RET_ALLOW, REFUSED_EPERM},
        {SYS_fcntl, 1, SETPIPE_SIZE + 1, SECCOMP_RET_ALLOW, SECCOMP_RET_ALLOW},
        {SYS_fchmodat, 2, 0700, SECCOMP_RET_ALLOW, SECCOMP_RET_ALLOW},
        {SYS_fchmodat, 2, 0755, SECCOMP_RET_ALLOW, REFUSED_EPERM},
        {SYS_clone, 0, 0x01200011, SECCOMP_RET_ALLOW, SECCOMP_RET_ALLOW}, // fork
        {SYS_clone, 0, 0x10000011, REFUSED_EPERM, REFUSED_EPERM},         // a user namespace
        {SYS_clone, 0, THREAD, SECCOMP_RET_ALLOW, SECCOMP_RET_ALLOW},
        {SYS_clone, 0, THREAD & ~0x400, REFUSED_EPERM, REFUSED_EPERM}, // without CLONE_FILES
        {SYS_fcntl, 1, SETLOCK, NO_LOCKS, NO_LOCKS},
        {SYS_fcntl, 1, OFD_SETLOCK, NO_LOCKS, NO_LOCKS},
        {SYS_inotify_init1, 0, 0, NO_CALL, NO_CALL},
        {SYS_setsid, 0, 0, SECCOMP_RET_ALLOW, REFUSED_EPERM},
        {SYS_ptrace, 0, 0, REFUSED_EPERM, REFUSED_EPERM},
    };
    static OsFilter spaces, whole;
    make(&spaces, kinds[0]);
    make(&whole, kinds[1]);
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(answer_to(&spaces, rows[i].call, rows[i].argument, rows[i].value),
                         rows[i].spaces);
        assert_int_equal(answer_to(&whole, rows[i].call, rows[i].argument, rows[i].value),
                         rows[i].whole);
    }
}

// In play two calls do nothing and succeed: those that choose CPUs, and those that would make the
// kernel forget the CPU time of children.
static void in_play_an_engine_stays_where_it_is_and_its_children_count(void **state) {
    (void)state;
    enum { PRETENDED = SECCOMP_RET_ERRNO };
    static OsFilter play, build;
    for (int whole = 0; whole < 2; whole++) {
        make(&build, (OsFilterKind){.whole = whole});
        make(&play, (OsFilterKind){.whole = whole, .play = true});
        struct seccomp_data call = {.nr = SYS_rt_sigaction, .arch = ARCH};
        assert_int_equal(answer_to(&build, SYS_sched_setaffinity, 0, 0), SECCOMP_RET_ALLOW);
        assert_int_equal(answer_to(&play, SYS_sched_setaffinity, 0, 0), PRETENDED);
        assert_int_equal(answer_to(&play, SYS_sched_setaffinity, 0, 4711), PRETENDED);
        call.args[0] = SIGCHLD;
        assert_int_equal(answer(&play, &call), SECCOMP_RET_ALLOW); // asks for the present action
        call.args[1] = UINT64_C(0x7fff00000000);
        assert_int_equal(answer(&play, &call), PRETENDED);
        assert_int_equal(answer(&build, &call), SECCOMP_RET_ALLOW);
        for (size_t i = 0; i < COUNT(upper_bits); i++) {
            call.args[0] = SIGCHLD | upper_bits[i];
            assert_int_equal(answer(&play, &call), PRETENDED);
        }
        call.args[0] = SIGTERM;
        assert_int_equal(answer(&play, &call), SECCOMP_RET_ALLOW);
    }
}

// Calls for which the refusal depends on one argument. They name no descriptor and no process of
// this machine, so that they do no harm if they are permitted.
enum { NOTHING = 0x7fffffff, USER_SPACE = 0x10000000 };

static const struct {
    long number;
    int argument;
    unsigned long value;
} conditional[] = {
    {SYS_setrlimit, 0, RLIMIT_RTTIME},
    {SYS_prlimit64, 1, RLIMIT_RTTIME},
    {SYS_prlimit64, 0, NOTHING},
    {SYS_fcntl, 1, 1031},   // F_SETPIPE_SZ
    {SYS_fcntl, 1, 8},      // F_SETOWN
    {SYS_fcntl, 1, 10},     // F_SETSIG
    {SYS_fcntl, 1, 15},     // F_SETOWN_EX
    {SYS_fcntl, 1, 6},      // F_SETLK
    {SYS_fcntl, 1, 7},      // F_SETLKW
    {SYS_fcntl, 1, 37},     // F_OFD_SETLK
    {SYS_fcntl, 1, 38},     // F_OFD_SETLKW
    {SYS_ioctl, 1, 0x5412}, // TIOCSTI
    {SYS_ioctl, 1, 0x541C}, // TIOCLINUX
    {SYS_ioctl, 1, 0x8901}, // FIOSETOWN
    {SYS_ioctl, 1, 0x8902}, // SIOCSPGRP
    {SYS_personality, 0, 0x40000},
    {SYS_fchmod, 1, 04000},
    {SYS_fchmodat, 2, 0777},
    {SYS_sched_setaffinity, 0, NOTHING},
    {SYS_sched_setscheduler, 0, NOTHING},
    {SYS_sched_setparam, 0, NOTHING},
    {SYS_sched_setattr, 0, NOTHING},
    {SYS_setpriority, 0, NOTHING},
    {SYS_kill, 1, SIGURG},
    {SYS_tkill, 1, SIGURG},
    {SYS_tgkill, 2, SIGURG},
    {SYS_clone, 0, USER_SPACE | SIGCHLD},
};

// The error of the kernel; 0: the call succeeded.
static int error_of(size_t row, unsigned long upper) {
    unsigned long a[6] = {conditional[row].number == SYS_prlimit64 ? 0 : NOTHING}; // 0: itself
    a[conditional[row].argument] = conditional[row].value | upper;
    long got = syscall(conditional[row].number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (conditional[row].number == SYS_clone && got == 0)
        _exit(0); // the child of a clone that was permitted
    return got < 0 ? errno : 0;
}

// In a process under the filter. Its exit status is the row, from 1, that upper bits permit.
_Noreturn static void call_under(const OsFilter *filter) {
    struct sock_fprog program = {(unsigned short)filter->size, (struct sock_filter *)filter->code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
        _exit(255);
    for (size_t row = 0; row < COUNT(conditional); row++)
        for (size_t i = 0; i < COUNT(upper_bits); i++)
            if (error_of(row, upper_bits[i]) != error_of(row, 0) && error_of(row, 0))
                _exit((int)row + 1);
    _exit(0);
}

static void the_kernel_refuses_what_the_filter_names_whatever_upper_bits_say(void **state) {
    (void)state;
    static OsFilter filter;
    for (size_t kind = 0; kind < COUNT(kinds); kind++) {
        int status;
        make(&filter, kinds[kind]);
        pid_t pid = fork();
        if (pid == 0)
            call_under(&filter);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        int row = WEXITSTATUS(status) - 1;
        if (row >= 0 && row < (int)COUNT(conditional))
            fail_msg("call %ld with %#lx is permitted by upper bits", conditional[row].number,
                     conditional[row].value);
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(upper_bits_of_an_argument_permit_nothing),
        cmocka_unit_test(in_play_an_engine_stays_where_it_is_and_its_children_count),
        cmocka_unit_test(the_rules_tell_values_apart),
        cmocka_unit_test(the_kernel_refuses_what_the_filter_names_whatever_upper_bits_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

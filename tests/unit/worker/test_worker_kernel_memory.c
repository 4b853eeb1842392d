// Memory of the kernel that a program in a sandbox takes: this program, run again inside of it at
// each level that the machine can have.
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "server/common/file.h"
#include "server/common/str.h"
#include "tests/kit/repo_kit.h"
#include "worker/sandbox/job.h"
#include "worker/sandbox/sandbox.h"

enum { LIMIT_S = 60, MEMORY_MIB = 128, BUILD_MIB = 512, PROGRAM_MAX = 64 << 20 };

// ---- inside -------------------------------------------------------------------------------------

// Other tests have processes of the same user, and may leave no room for one more for a while.
static pid_t fork_at_last(void) {
    pid_t pid;
    while ((pid = fork()) < 0)
        usleep(10000);
    return pid;
}

// Mappings without a page: about 60,000 in each of 25 processes, in all some 300 MiB of the kernel.
static int hold_mappings(void) {
    enum { PROCESSES = 25, MAPPINGS = 30000, PAGE = 4096 };
    for (int i = 1; i < PROCESSES && fork_at_last() > 0; i++)
        ;
    char *block = mmap(NULL, (size_t)2 * MAPPINGS * PAGE, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (size_t i = 0; i < MAPPINGS; i++)
        if (mprotect(block + 2 * i * PAGE, PAGE, PROT_READ) < 0)
            return 1;
    for (;;)
        pause();
}

static int set_locks(void) {
    enum { LOCKS = 1000 };
    int fd = open("locks", O_RDWR | O_CREAT, 0600), set = 0;
    for (int i = 0; i < LOCKS; i++)
        set += fcntl(fd, F_SETLK,
                     &(struct flock){.l_type = F_WRLCK, .l_start = 2 * (off_t)i, .l_len = 1}) == 0;
    printf("%d locks: %m\n", set);
    return 0;
}

static int make_rules(void) {
    enum { VERSION = 1, NO_FLAGS = 0 };
    const char *calls[3];
    errno = 0;
    syscall(SYS_landlock_create_ruleset, NULL, 0, VERSION);
    calls[0] = strerrorname_np(errno);
    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, NO_FLAGS, NULL);
    calls[1] = strerrorname_np(errno);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL);
    calls[2] = strerrorname_np(errno);
    printf("%s %s %s\n", calls[0], calls[1], calls[2]);
    return 0;
}

// ---- outside ------------------------------------------------------------------------------------

// Runs this program, or a script of the shell, in a sandbox. `result` is for the caller to release.
// False: the machine lacks the level.
static bool run_inside(int level, const char *deed, const char *script, JobResult *result) {
    static Sandbox sandbox;
    Error err;
    size_t size;
    OsLimits limits;
    Argv argv scope(argv_release) = {0};
    char *folder scope(kit_folder_drop) = kit_folder();
    char *program scope(free_ptr) = xasprintf("%s/program", folder);
    char *self scope(free_ptr) = file_read("/proc/self/exe", PROGRAM_MAX, &size, &err);
    if (!sandbox_detect(&sandbox, level, false, &err) || sandbox.level != level)
        return false;
    assert_true(self && file_write_durable(program, self, size, &err));
    assert_int_equal(chmod(program, 0700), 0);
    SandboxView view = {.folder = folder,
                        .writable = deed == NULL,
                        .tmp_bytes = PROGRAM_MAX,
                        .memory_bytes = (int64_t)(deed ? MEMORY_MIB : BUILD_MIB) << 20};
    const char *seen = sandbox_prefix(&sandbox, &view, &argv, &limits);
    if (deed) {
        argv_printf(&argv, "%s/program", seen);
        argv_add(&argv, deed);
    } else {
        argv_add_all(&argv, (const char *const[]){"/bin/sh", "-c", script, NULL});
    }
    JobSpec job = {(const char *const *)argv.items, LIMIT_S, NULL, &limits};
    if (!job_run(&job, result, &err))
        fail_msg("%s", err.message);
    return true;
}

static void at_each_level(const char *deed, const char *script,
                          void (*check)(const JobResult *result)) {
#ifdef __SANITIZE_ADDRESS__
    skip(); // a sanitized program reads files that a sandbox does not have
#endif
    for (int level = 1; level <= SANDBOX_BEST; level++) {
        scope(job_result_release) JobResult result = {0};
        if (run_inside(level, deed, script, &result))
            check(&result);
        else
            print_message("level %d is not to be had here\n", level);
    }
}

static void was_ended_for_its_memory(const JobResult *result) {
    print_message("%s\n", *result->limit_exceeded ? result->limit_exceeded : "not ended");
    assert_string_equal(result->limit_exceeded,
                        "used more than 128 MiB of memory, the kernel's for it included");
}

static void mappings_without_a_page_count_as_memory(void **state) {
    (void)state;
    at_each_level("mappings", NULL, was_ended_for_its_memory);
}

static void set_no_lock(const JobResult *result) {
    assert_string_equal(result->output.data, "0 locks: No locks available\n");
}

static void locks_on_bytes_of_a_file_are_refused(void **state) {
    (void)state;
    at_each_level(NULL, "./program locks", set_no_lock);
}

static void made_no_rules(const JobResult *result) {
    assert_string_equal(result->output.data, "ENOSYS ENOSYS EPERM\n");
}

static void rules_and_filters_of_its_own_are_refused(void **state) {
    (void)state;
    at_each_level("rules", NULL, made_no_rules);
}

static void was_built(const JobResult *result) {
    const char *said = result->output.data ? result->output.data : "";
    if (!strstr(said, "built one two"))
        fail_msg("status %d %s: %s", result->status, result->limit_exceeded, said);
}

// gcc's profiles lock their files, and so does a make that keeps the output of commands together.
// The latter needs /tmp, which level 1 does not have.
static void builds_go_on_without_locks(void **state) {
    (void)state;
    static const char script[] =
        "mkdir tmp && export TMPDIR=$PWD/tmp && "
        "printf 'int main(int c, char **v) { return c > 9 ? **v : 0; }\\n' >a.c && "
        "gcc -O1 -fprofile-generate a.c -o a && ./a && ls *.gcda >/dev/null && "
        "gcc -O1 -Werror -fprofile-use a.c -o a && ./a && "
        "printf 'all: one two\\none two:\\n\\t@echo $@ >$@\\n' >Makefile && "
        "if touch /tmp/x 2>/dev/null; then make -O -j2; else make -j2; fi && echo built $(cat one) "
        "$(cat two)";
    at_each_level(NULL, script, was_built);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mappings_without_a_page_count_as_memory),
        cmocka_unit_test(locks_on_bytes_of_a_file_are_refused),
        cmocka_unit_test(rules_and_filters_of_its_own_are_refused),
        cmocka_unit_test(builds_go_on_without_locks),
    };
    if (argc > 1)
        return strcmp(argv[1], "locks") == 0   ? set_locks()
               : strcmp(argv[1], "rules") == 0 ? make_rules()
                                               : hold_mappings();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

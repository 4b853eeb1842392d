// Control groups: which one is the worker's own, and what a group of a job does. The kernel's part
// is tried where these tests run as root and may make groups.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/common/file.h"
#include "server/common/str.h"
#include "tests/kit/repo_kit.h"
#include "worker/os/own_group.h"
#include "worker/os/process.h"

enum { NOBODY = 65534, NO_GROUPS = 77, TOLD_MS = 60000 };

#define TOKEN_NAME "patchmate-0123456789abcdef"

// ---- finding ------------------------------------------------------------------------------------

#define UNIFIED "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
#define HYBRID                                                                                     \
    "31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"                            \
    "41 30 0:37 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"

static void the_own_group_is_found_where_version_2_is_mounted(void **state) {
    (void)state;
    static const struct {
        const char *groups, *mounts, *folder;
    } rows[] = {
        {"0::/user.slice/a.scope\n", UNIFIED, "/sys/fs/cgroup/user.slice/a.scope"},
        {"0::/\n", UNIFIED, "/sys/fs/cgroup"},
        {"4:memory:/x\n0::/y\n", HYBRID, "/sys/fs/cgroup/unified/y"},
        // A container without a namespace of groups shows its own group at the top of the mount.
        {"0::/box/1/in\n", "30 23 0:26 /box/1 /cg rw - cgroup2 cgroup rw\n", "/cg/in"},
        {"0::/box/1\n", "30 23 0:26 /box/1 /cg rw - cgroup2 cgroup rw\n", "/cg"},
        {"0::/box/12\n", "30 23 0:26 /box/1 /cg rw - cgroup2 cgroup rw\n", NULL},
        {"0::/\n", "30 23 0:26 /box/1 /cg rw - cgroup2 cgroup rw\n", NULL},
        {"0::/\n", "30 23 0:26 /../.. /cg rw - cgroup2 cgroup rw\n", NULL},
        {"0::/../other\n", UNIFIED, NULL},
        {"4:memory:/x\n", HYBRID, NULL},
        {"0::/y\n", "31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n", NULL},
        {"nonsense\n0::\n", "nonsense\n - cgroup2 \n", NULL},
        {"", "", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *folder scope(free_ptr) = os_own_group_find(rows[i].groups, rows[i].mounts);
        if (rows[i].folder)
            assert_string_equal(folder ? folder : "none", rows[i].folder);
        else
            assert_null(folder);
    }
}

// ---- a folder of plain files in place of a group -----------------------------------------------

static char *file_of(const char *folder, const char *name) {
    Error err;
    char *path scope(free_ptr) = xasprintf("%s/%s", folder, name);
    return file_read(path, 4096, NULL, &err);
}

static void assert_file(const char *folder, const char *name, const char *wanted) {
    char *text scope(free_ptr) = file_of(folder, name);
    assert_string_equal(text ? text : "no file", wanted);
}

static void a_limit_of_memory_is_written_with_no_swap(void **state) {
    (void)state;
    char *folder scope(kit_folder_drop) = kit_folder();
    int group = open(folder, O_RDONLY | O_DIRECTORY);
    os_group_limit_memory(group, 256 << 20);
    assert_file(folder, "memory.max", "no file"); // files of a group are never made
    kit_write(folder, "memory.max", "");
    kit_write(folder, "memory.oom.group", "");
    os_group_limit_memory(group, 256 << 20); // this kernel has no swap
    assert_file(folder, "memory.max", "335544320");
    assert_file(folder, "memory.oom.group", "1");
    assert_file(folder, "memory.swap.max", "no file");
    kit_write(folder, "memory.swap.max", "");
    os_group_limit_memory(group, 256 << 20);
    assert_file(folder, "memory.swap.max", "0");
    close(group);
}

static void only_an_end_at_ones_own_limit_is_a_verdict(void **state) {
    (void)state;
    static const struct {
        const char *events;
        bool ran_out;
    } rows[] = {
        {"low 0\nhigh 0\nmax 12\noom 1\noom_kill 3\noom_group_kill 1\n", true},
        {"low 0\nhigh 0\nmax 12\noom 0\noom_kill 3\n", false}, // the machine had no memory left
        {"low 0\nhigh 0\nmax 12\noom 1\noom_kill 0\n", false},
        {"low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n", false},
        {"", false},
    };
    char *folder scope(kit_folder_drop) = kit_folder();
    OsJobGroup group = {1, open(folder, O_RDONLY | O_DIRECTORY)};
    assert_false(os_job_group_ran_out(&group)); // no such file
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kit_write(folder, "memory.events", rows[i].events);
        assert_int_equal(os_job_group_ran_out(&group), rows[i].ran_out);
    }
    assert_false(os_job_group_ran_out(&(OsJobGroup){0}));
    close(group.folder);
}

static void a_path_that_is_not_a_workers_group_has_no_effect(void **state) {
    (void)state;
    Error err;
    char *folder scope(kit_folder_drop) = kit_folder();
    char *job scope(free_ptr) = xasprintf("%s/" TOKEN_NAME "/job-1", folder);
    char *path scope(free_ptr) = xasprintf("%s/" TOKEN_NAME, folder);
    assert_true(folder_make(job, &err));
    kit_write(folder, TOKEN_NAME "/job-1/cgroup.kill", "");
    assert_int_equal(os_own_group_end_earlier(path), 0);
    assert_file(job, "cgroup.kill", "");
    static const char *const others[] = {"",           "/",        "/sys/fs/cgroup",
                                         "patchmate-", TOKEN_NAME, ("/no/such/" TOKEN_NAME)};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(os_own_group_end_earlier(others[i]), 0);
}

// ---- groups of the kernel -----------------------------------------------------------------------

// Runs `part` in a child that has become an ordinary user with a group of its own. The child
// asserts by its exit status, since cmocka's assertions would return into the copy of the other
// tests.
static void in_an_own_group(int (*part)(void)) {
    int status = -1;
    if (geteuid() != 0)
        skip();
    pid_t pid = fork();
    if (pid == 0) {
        os_own_group_start(NOBODY, NOBODY);
        if (os_own_group_folder() < 0)
            _exit(NO_GROUPS);
        _exit(setgid(NOBODY) < 0 || setuid(NOBODY) < 0 ? 1 : part());
    }
    waitpid(pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_GROUPS)
        skip();
    assert_int_equal(status, 0);
}

#define CHECK(fact)                                                                                \
    do {                                                                                           \
        if (!(fact)) {                                                                             \
            fprintf(stderr, "line %d: %s\n", __LINE__, #fact);                                     \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

// A program with children in sessions of their own whose parents have ended.
static bool start_strays(OsProcess *process) {
    static const char script[] = "(setsid sleep 600 &); (setsid setsid sleep 600 &); echo ready; "
                                 "sleep 600";
    static const OsLimits limits = {.confined = true};
    static const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    char said[16];
    Error err;
    if (!os_spawn(process, &(OsSpawnSpec){.argv = argv, .limits = &limits}, &err))
        return false;
    for (int i = 0; i < TOLD_MS && read(process->output, said, sizeof said) <= 0; i++)
        usleep(1000);
    return true;
}

static char *job_file(const OsProcess *process, const char *name) {
    char *path scope(free_ptr) = xasprintf("%s/job-%d", os_own_group_path(), process->group.number);
    return file_of(path, name);
}

static bool has_groups_of_jobs(void) {
    for (int i = 1; i < 10; i++) {
        char *path scope(free_ptr) = xasprintf("%s/job-%d", os_own_group_path(), i);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}

// The kernel removes a group only when all processes in it have ended.
static int ends_without_keeper(void) {
    OsProcess process;
    CHECK(start_strays(&process));
    char *events scope(free_ptr) = job_file(&process, "cgroup.events");
    CHECK(events && strstr(events, "populated 1"));
    char *members scope(free_ptr) = job_file(&process, "cgroup.procs");
    char *keeper scope(free_ptr) = xasprintf("%d\n", process.pid);
    CHECK(members && *members && !strstr(members, keeper));
    kill(process.pid, SIGKILL);
    os_kill(&process);
    CHECK(!has_groups_of_jobs());
    return 0;
}

static void a_job_ends_though_its_keeper_was_killed(void **state) {
    (void)state;
    in_an_own_group(ends_without_keeper);
}

static int ends_by_path(void) {
    OsProcess process;
    CHECK(start_strays(&process));
    char *other scope(free_ptr) = xasprintf("%s/other", os_own_group_path());
    CHECK(mkdir(other, 0755) == 0);
    char *members scope(free_ptr) = xasprintf("%s/cgroup.procs", other);
    pid_t bystander = fork();
    if (bystander == 0)
        pause();
    int file = open(members, O_WRONLY);
    CHECK(file >= 0 && dprintf(file, "%d", bystander) > 0);
    kill(process.pid, SIGKILL);
    CHECK(os_own_group_end_earlier(other) == 0); // not the name of a worker's group
    CHECK(os_own_group_end_earlier(os_own_group_path()) == 1);
    CHECK(!has_groups_of_jobs());
    CHECK(kill(bystander, 0) == 0 && waitpid(bystander, NULL, WNOHANG) == 0);
    kill(bystander, SIGKILL);
    waitpid(bystander, NULL, 0);
    close(file);
    os_kill(&process);
    CHECK(rmdir(other) == 0);
    return 0;
}

static void the_group_of_an_earlier_worker_is_ended_and_no_other(void **state) {
    (void)state;
    in_an_own_group(ends_by_path);
}

static int has_status(void) {
    static const OsLimits limits = {.confined = true, .memory_bytes = 1 << 30};
    static const char *const argv[] = {"/bin/sh", "-c", "exit 3", NULL};
    char how[64];
    OsProcess process;
    Error err;
    CHECK(os_spawn(&process, &(OsSpawnSpec){.argv = argv, .limits = &limits}, &err));
    CHECK(os_wait(&process, TOLD_MS) && os_ended(&process, how, sizeof how));
    CHECK(strcmp(how, "exit status 3") == 0 && !os_limit_exceeded(&process));
    os_kill(&process);
    CHECK(!os_spawn(
        &process,
        &(OsSpawnSpec){.argv = (const char *const[]){"/no/such", NULL}, .limits = &limits}, &err));
    CHECK(!has_groups_of_jobs());
    return 0;
}

static void a_job_that_ends_by_itself_leaves_no_group(void **state) {
    (void)state;
    in_an_own_group(has_status);
}

static void execute(const char *command) {
    pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", command, NULL);
        _exit(127);
    }
    waitpid(pid, NULL, 0);
}

// Root gives `base`, with this process in it, to an ordinary user.
static bool give_group(const char *base) {
    static const char *const files[] = {"", "/cgroup.procs", "/cgroup.subtree_control"};
    char *members scope(free_ptr) = xasprintf("%s/cgroup.procs", base);
    if (mkdir(base, 0755) < 0)
        return false;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *path scope(free_ptr) = xasprintf("%s%s", base, files[i]);
        if (chown(path, NOBODY, NOBODY) < 0)
            return false;
    }
    int file = open(members, O_WRONLY);
    bool moved = file >= 0 && write(file, "0", 1) == 1;
    close_fd(&file);
    return moved;
}

static int ends_in_given_group(const char *base) {
    if (!give_group(base))
        return NO_GROUPS;
    CHECK(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
    os_own_group_start(NOBODY, NOBODY);
    CHECK(strncmp(os_own_group_path(), base, strlen(base)) == 0);
    return ends_without_keeper();
}

// The status of the child, in its own frame: skip() would not release what this one holds.
static int status_in_given_group(void) {
    Error err;
    int status = -1;
    char *groups scope(free_ptr) = file_read("/proc/self/cgroup", 1 << 20, NULL, &err);
    char *mounts scope(free_ptr) = file_read("/proc/self/mountinfo", 1 << 20, NULL, &err);
    char *own scope(free_ptr) = os_own_group_find(groups, mounts);
    if (geteuid() != 0 || !own)
        return NO_GROUPS;
    char *base scope(free_ptr) = xasprintf("%s/given-%d", own, getpid());
    pid_t pid = fork();
    if (pid == 0)
        _exit(ends_in_given_group(base));
    waitpid(pid, &status, 0);
    char *command scope(free_ptr) =
        xasprintf("rmdir %s/patchmate-*/worker %s/patchmate-* %s", base, base, base);
    execute(command);
    assert_int_not_equal(access(base, F_OK), 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_group_that_was_given_to_an_ordinary_user_is_used(void **state) {
    (void)state;
    int status = status_in_given_group();
    if (status == NO_GROUPS)
        skip();
    assert_int_equal(status, 0);
}

static void an_ordinary_user_makes_no_group_that_was_not_given(void **state) {
    (void)state;
    int status = -1;
    if (geteuid() != 0)
        skip();
    pid_t pid = fork();
    if (pid == 0) {
        if (setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
            _exit(2);
        os_own_group_start(NOBODY, NOBODY);
        _exit(os_own_group_folder() >= 0 || *os_own_group_path() ? 1 : 0);
    }
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_own_group_is_found_where_version_2_is_mounted),
        cmocka_unit_test(a_limit_of_memory_is_written_with_no_swap),
        cmocka_unit_test(only_an_end_at_ones_own_limit_is_a_verdict),
        cmocka_unit_test(a_path_that_is_not_a_workers_group_has_no_effect),
        cmocka_unit_test(a_job_ends_though_its_keeper_was_killed),
        cmocka_unit_test(the_group_of_an_earlier_worker_is_ended_and_no_other),
        cmocka_unit_test(a_job_that_ends_by_itself_leaves_no_group),
        cmocka_unit_test(a_group_that_was_given_to_an_ordinary_user_is_used),
        cmocka_unit_test(an_ordinary_user_makes_no_group_that_was_not_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

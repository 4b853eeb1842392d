// What a machine offers: CPUs and memory under control groups, games at a time, CPUs shared with
// other workers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/common/file.h"
#include "server/common/str.h"
#include "worker/os/host.h"
#include "worker/setup/host.h"

static void write_file(const char *folder, const char *path, const char *text) {
    Error err;
    char *full scope(free_ptr) = xasprintf("%s/%s", folder, path);
    char *parent scope(free_ptr) = xstrdup(full);
    *strrchr(parent, '/') = 0;
    if (!folder_make(parent, &err) || !file_write_durable(full, text, strlen(text), &err))
        fail_msg("%s", err.message);
}

static char *new_folder(void) {
    char *folder = xstrdup("/tmp/patchmate-host-XXXXXX");
    assert_non_null(mkdtemp(folder));
    return folder;
}

// A tree of control groups as files: what /proc/self/cgroup says, then path and content, …
static CgroupLimits limits_of(const char *const *files) {
    Error err;
    CgroupLimits limits;
    char *folder scope(free_ptr) = new_folder();
    char *groups scope(free_ptr) = xasprintf("%s/groups", folder);
    write_file(folder, "groups", files[0]);
    for (const char *const *f = files + 1; *f; f += 2)
        write_file(folder, f[0], f[1]);
    os_cgroup_limits(groups, folder, &limits);
    assert_true(folder_remove(folder, &err));
    return limits;
}

static void the_lowest_limit_on_the_way_up_counts(void **state) {
    (void)state;
    CgroupLimits limits = limits_of((const char *const[]){
        "0::/user/work\n", "user/work/cpu.max", "max 100000\n", "user/work/memory.max",
        "2147483648\n", "user/cpu.max", "150000 100000\n", "user/memory.max", "max\n", "memory.max",
        "4294967296\n", NULL});
    assert_true(limits.cpus == 1.5);
    assert_true(limits.memory_bytes == 2147483648.0);
}

static void version_1_groups_are_read_by_controller(void **state) {
    (void)state;
    CgroupLimits limits = limits_of((const char *const[]){
        "5:memory:/box\n4:cpu,cpuacct:/box\n0::/\n", "memory/box/memory.limit_in_bytes",
        "1073741824\n", "cpu,cpuacct/box/cpu.cfs_quota_us", "400000\n",
        "cpu,cpuacct/box/cpu.cfs_period_us", "100000\n", NULL});
    assert_true(limits.cpus == 4);
    assert_true(limits.memory_bytes == 1073741824.0);
}

static void in_a_container_the_top_is_its_own_group(void **state) {
    (void)state;
    CgroupLimits limits = limits_of(
        (const char *const[]){"4:memory:/docker/0123\n2:cpu:/docker/0123\n",
                              "memory/memory.limit_in_bytes", "536870912\n", "cpu/cpu.cfs_quota_us",
                              "250000\n", "cpu/cpu.cfs_period_us", "100000\n", NULL});
    assert_true(limits.cpus == 2.5);
    assert_true(limits.memory_bytes == 536870912.0);
}

static void without_limits_there_are_none(void **state) {
    (void)state;
    CgroupLimits limits = limits_of((const char *const[]){
        "4:memory:/a\n3:cpuset:/a\n2:cpu:/a\n0::/a\n", "memory/a/memory.limit_in_bytes",
        "9223372036854771712\n", "cpu/a/cpu.cfs_quota_us", "-1\n", "cpu/a/cpu.cfs_period_us",
        "100000\n", "unified/a/memory.max", "max\n", NULL});
    assert_true(limits.cpus == 0);
    assert_true(limits.memory_bytes == 0);
    limits = limits_of((const char *const[]){"nonsense\n:\n::\n0::\n", NULL});
    assert_true(limits.cpus == 0 && limits.memory_bytes == 0);
}

static void a_core_and_a_bit_of_the_quota_are_left(void **state) {
    (void)state;
    static const struct {
        double quota;
        int cores, offered;
    } rows[] = {{0, 1, 1}, {0, 2, 1}, {0, 8, 7},    {4, 8, 3},      {2.5, 8, 2},
                {1, 8, 1}, {8, 4, 3}, {0.5, 64, 1}, {63.9, 64, 63}, {3.1, 4, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(host_default_cores(rows[i].cores, rows[i].quota), rows[i].offered);
}

static void two_workers_never_reserve_the_same_cpu(void **state) {
    (void)state;
    // No machine here has it, so that workers at play are not in the way.
    OsCpus allowed = {1, {OS_CPUS_MAX - 1}};
    OsCpuClaim *mine scope(free_ptr) = xcalloc(1, sizeof *mine);
    OsCpuClaim *theirs scope(free_ptr) = xcalloc(1, sizeof *theirs);
    assert_true(os_cpus_reserve(mine, &allowed, 1));
    pid_t other = fork();
    if (other == 0)
        _exit(os_cpus_reserve(theirs, &allowed, 1) ? 1 : 0);
    int status;
    assert_int_equal(waitpid(other, &status, 0), other);
    assert_int_equal(WEXITSTATUS(status), 0);
    OsCpus same = {1, {mine->cpus.ids[0]}};
    os_cpus_release(mine);
    assert_true(os_cpus_reserve(theirs, &same, 1));
    os_cpus_release(theirs);
}

static void the_machine_is_described(void **state) {
    (void)state;
    HostFacts facts;
    OsBoot boot;
    os_host_facts(&facts);
    assert_true(facts.physical_cores >= 1 && facts.logical_cores >= facts.physical_cores);
    assert_true(facts.memory_mib > 64);
    assert_true(strlen(facts.isa) > 3);
#if defined(__x86_64__)
    assert_int_equal(strncmp(facts.isa, "x86-64-v", 8), 0);
#endif
    os_boot(&boot);
    assert_true(boot.seconds > 0 && boot.slept_s >= -0.1);
    assert_true(os_disk_free("/tmp") >= 0);
    assert_true(os_disk_free("/no/such/folder") == -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lowest_limit_on_the_way_up_counts),
        cmocka_unit_test(version_1_groups_are_read_by_controller),
        cmocka_unit_test(in_a_container_the_top_is_its_own_group),
        cmocka_unit_test(without_limits_there_are_none),
        cmocka_unit_test(a_core_and_a_bit_of_the_quota_are_left),
        cmocka_unit_test(two_workers_never_reserve_the_same_cpu),
        cmocka_unit_test(the_machine_is_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

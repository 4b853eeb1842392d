// Running strangers' programs: jobs, the sandbox at the level this machine has, builds.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/common/file.h"
#include "tests/kit/repo_kit.h"
#include "tests/kit/worker_kit.h"
#include "worker/build/build.h"
#include "worker/build/speed.h"
#include "worker/sandbox/job.h"

static JobEnd shell(const char *script, int limit_s, JobResult *result) {
    Error err;
    const char *argv[] = {"/bin/sh", "-c", script, NULL};
    if (!job_run(&(JobSpec){.argv = argv, .limit_s = limit_s}, result, &err))
        fail_msg("%s", err.message);
    return result->end;
}

static void a_job_gives_its_status_and_both_streams(void **state) {
    (void)state;
    scope(job_result_release) JobResult result;
    assert_int_equal(shell("echo out; echo err >&2; exit 7", 600, &result), JOB_ENDED);
    assert_int_equal(result.status, 7);
    assert_string_equal(result.output.data, "out\nerr\n");
}

static void a_job_killed_by_a_signal_says_so(void **state) {
    (void)state;
    scope(job_result_release) JobResult result;
    assert_int_equal(shell("kill -SEGV $$", 600, &result), JOB_ENDED);
    assert_int_equal(result.status, 128 + SIGSEGV);
}

static void of_much_output_the_last_words_are_kept(void **state) {
    (void)state;
    scope(job_result_release) JobResult result;
    assert_int_equal(shell("yes 12345678 | head -c 1000000; echo the end", 99, &result), JOB_ENDED);
    assert_true(result.output.overflow);
    assert_int_equal(result.output.size, JOB_OUTPUT_MAX);
    assert_string_equal(result.output.data + result.output.size - 8, "the end\n");
}

static void a_job_over_its_time_is_ended_with_its_children(void **state) {
    (void)state;
    int child = 0;
    for (int limit_s = 1; !child && limit_s < 100; limit_s *= 4) { // it may be slow to begin
        scope(job_result_release) JobResult result;
        assert_int_equal(shell("sleep 1000 & echo $!; wait", limit_s, &result), JOB_TIMED_OUT);
        (void)sscanf(result.output.data, "%d", &child);
    }
    for (int i = 0; kill(child, 0) == 0; usleep(20000)) // the process that adopted it reaps it
        assert_true(i++ < 3000);
}

static void a_raised_flag_ends_a_job(void **state) {
    (void)state;
    Error err;
    atomic_bool cancel = true;
    const char *argv[] = {"/bin/sleep", "1000", NULL};
    scope(job_result_release) JobResult result;
    assert_true(job_run(&(JobSpec){argv, 1000, &cancel, NULL}, &result, &err));
    assert_int_equal(result.end, JOB_CANCELLED);
}

static void a_program_that_does_not_exist_fails_with_its_name(void **state) {
    (void)state;
    scope(job_result_release) JobResult result;
    Error err;
    const char *argv[] = {"/no/such/program", NULL};
    assert_false(job_run(&(JobSpec){.argv = argv, .limit_s = 5}, &result, &err));
    assert_non_null(strstr(err.message, "/no/such/program"));
}

// ---- sandbox ------------------------------------------------------------------------------------

// What a script prints, new, that is confined to `folder`. `landlock`: as far as the kernel has it.
static char *confined_with(bool landlock, const char *folder, bool writable, const char *script) {
    Error err;
    Sandbox sandbox;
    if (!sandbox_detect(&sandbox, SANDBOX_BEST, false, &err))
        fail_msg("%s", err.message);
    if (!landlock)
        sandbox.profile.access_version = 0;
    scope(argv_release) Argv argv = {0};
    SandboxView view = {.folder = folder, .writable = writable, .tmp_bytes = 1 << 20};
    OsLimits limits;
    sandbox_prefix(&sandbox, &view, &argv, &limits);
    argv_add_all(&argv, (const char *const[]){"/bin/sh", "-c", script, NULL});
    scope(job_result_release) JobResult result;
    assert_true(
        job_run(&(JobSpec){(const char *const *)argv.items, 600, NULL, &limits}, &result, &err));
    return xstrdup(result.output.data);
}

static char *confined(const char *folder, bool writable, const char *script) {
    return confined_with(true, folder, writable, script);
}

static void assert_said(const char *script, const char *wanted) {
    char *folder scope(kit_folder_drop) = kit_folder();
    char *said scope(free_ptr) = confined(folder, true, script);
    assert_string_equal(said, wanted);
}

static void the_sandbox_hides_home_and_the_rest_of_the_disk(void **state) {
    (void)state;
    assert_said("ls -d /root /home /var /etc/passwd /etc/shadow 2>/dev/null; echo done", "done\n");
}

static void the_sandbox_has_no_network(void **state) {
    (void)state;
    assert_said("bash -c ': >/dev/tcp/127.0.0.1/9' 2>&1 | grep -o permitted | uniq", "permitted\n");
}

static void the_sandbox_sees_no_other_processes(void **state) {
    (void)state;
    assert_said("ls /proc 2>/dev/null; cat /proc/1/cmdline /proc/1/environ 2>/dev/null; echo $$",
                "2\n");
}

static void the_sandbox_starts_from_an_empty_environment(void **state) {
    (void)state;
    setenv("PATCHMATE_SECRET", "x", 1);
    assert_said("env | grep -c PATCHMATE_SECRET; echo $HOME", "0\n/tmp\n");
}

static void the_system_is_read_only_and_tmp_is_small(void **state) {
    (void)state;
    assert_said("touch /usr/x /x 2>/dev/null || echo read-only;"
                "head -c 4000000 /dev/zero > /tmp/big 2>/dev/null || echo full",
                "read-only\nfull\n");
}

static void nobody_runs_inside_without_rights(void **state) {
    (void)state;
    assert_said("id -u; touch x; chown 1 x 2>&1 | grep -o 'Operation not permitted\\|Invalid'",
                "65534\nInvalid\n");
}

static void the_sandbox_tells_nothing_of_the_hosts_paths(void **state) {
    (void)state;
    static const char script[] = "cat /proc/self/mountinfo 2>/dev/null;"
                                 "find /proc -type f -path '*info' 2>/dev/null | sort; pwd -P";
    for (int landlock = 0; landlock < 2; landlock++) {
        char *folder scope(kit_folder_drop) = kit_folder();
        char *said scope(free_ptr) = confined_with(landlock, folder, true, script);
        assert_string_equal(said, landlock ? "/work\n" : "/proc/cpuinfo\n/proc/meminfo\n/work\n");
    }
}

static void a_read_only_view_cannot_be_written(void **state) {
    (void)state;
    char *folder scope(kit_folder_drop) = kit_folder();
    char *said scope(free_ptr) = confined(folder, false, "touch x 2>/dev/null || echo no");
    assert_string_equal(said, "no\n");
}

// ---- builds -------------------------------------------------------------------------------------

typedef struct Yard {
    char *folder;
    Store store;
    Sandbox sandbox;
    BuildContext context;
    TaskBuild recipe;
    char snapshot[65];
} Yard;

static void yard_release(Yard *yard) {
    json_decref(yard->recipe.env);
    store_close(&yard->store);
    kit_folder_drop(&yard->folder);
}

static void put_snapshot(Yard *yard, const char *makefile) {
    Error err;
    scope(kit_tar_release) KitTar tar = {0};
    static const char source[] = "#include <stdio.h>\nint main(void) { puts(\"Nodes searched  : "
                                 "1234\\nNodes/second    : 99\"); }\n";
    kit_tar_add(&tar, KIT_FILE, "Makefile", NULL, makefile, strlen(makefile));
    kit_tar_add(&tar, KIT_FILE, "engine.c", NULL, source, strlen(source));
    kit_tar_end(&tar);
    memset(yard->snapshot, 'a', 64);
    char *path scope(free_ptr) = store_blob(&yard->store, yard->snapshot);
    assert_true(file_write_durable(path, tar.data, tar.size, &err));
}

static void yard_open(Yard *yard, const char *makefile) {
    Error err;
    *yard = (Yard){.folder = kit_folder()};
    if (!store_open(&yard->store, yard->folder, &err) ||
        !sandbox_detect(&yard->sandbox, SANDBOX_BEST, false, &err))
        fail_msg("%s", err.message);
    yard->context = (BuildContext){&yard->store, &yard->sandbox, "gcc", 1, NULL, 0, 0};
    yard->recipe = (TaskBuild){.directory = ".",
                               .command = "make",
                               .binary = "anvil",
                               .env = json_pack("{s:s}", "GREETING", "hello"),
                               .bench_args = {"bench"}};
    put_snapshot(yard, makefile);
}

static BuildOutcome build(Yard *yard, Build *out, Str *log, Error *err) {
    str_init(log, 1 << 20);
    return build_engine(&yard->context, &yard->recipe, yard->snapshot, out, log, err);
}

static void assert_build_fails(const char *makefile, const char *message, const char *word) {
    Error err = {0};
    scope(yard_release) Yard yard;
    scope(build_release) Build out;
    scope(str_release) Str log;
    yard_open(&yard, makefile);
    assert_int_equal(build(&yard, &out, &log, &err), BUILD_FAILED);
    if (!strstr(err.message, message) || !strstr(log.data, word))
        fail_msg("'%s', '%s'", err.message, log.data);
    char *left scope(free_ptr) = store_work(&yard.store, "build");
    assert_int_equal(access(left, F_OK), -1);
}

static void an_engine_is_built_kept_and_benched(void **state) {
    (void)state;
    Error err = {0};
    scope(yard_release) Yard yard;
    scope(build_release) Build out;
    scope(str_release) Str log;
    yard_open(&yard, "anvil: engine.c\n\ttest \"$$GREETING\" = hello\n\tcc -o $@ $<\n");
    if (build(&yard, &out, &log, &err) != BUILD_DONE)
        fail_msg("%s: %s", err.message, log.data);
    Bench bench;
    assert_int_equal(bench_run(&yard.context, &out, yard.recipe.bench_args, 0, &bench, NULL, &err),
                     RUN_DONE);
    assert_int_equal(bench.nodes, 1234);
    // The second time nothing is built: not even the snapshot is needed.
    char *blob scope(free_ptr) = store_blob(&yard.store, yard.snapshot);
    unlink(blob);
    scope(build_release) Build again;
    assert_int_equal(build_engine(&yard.context, &yard.recipe, yard.snapshot, &again, &log, &err),
                     BUILD_DONE);
    assert_string_equal(again.key, out.key);
}

static const char net_sha[] = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

static void add_file(Yard *yard, const char *sha, const char *path, const char *text) {
    Error err;
    char *blob scope(free_ptr) = store_blob(&yard->store, sha);
    assert_true(file_write_durable(blob, text, strlen(text), &err));
    TaskFiles *files = &yard->recipe.files;
    files->items[files->count++] = (TaskFile){sha, path};
}

// The "engine" prints its net, which it opens by a path relative to where it was built.
static void files_of_the_recipe_lie_beside_the_engine_that_runs(void **state) {
    (void)state;
    Error err = {0};
    Bench bench;
    scope(yard_release) Yard yard;
    scope(build_release) Build out;
    scope(str_release) Str log;
    static const char net[] = "Nodes searched  : 77\n";
    yard_open(&yard, "");
    yard.recipe.directory = "src";
    yard.recipe.command = "cat net/small && printf '#!/bin/sh\\ncat net/small\\n' > anvil && "
                          "chmod +x anvil";
    add_file(&yard, net_sha, "src/net/small", net);
    if (build(&yard, &out, &log, &err) != BUILD_DONE)
        fail_msg("%s: %s", err.message, log.data);
    RunOutcome ran = bench_run(&yard.context, &out, yard.recipe.bench_args, 0, &bench, &log, &err);
    if (ran != RUN_DONE)
        fail_msg("%s: %s", err.message, log.data);
    assert_int_equal(bench.nodes, 77);
}

static void another_file_or_another_place_of_it_is_another_build(void **state) {
    (void)state;
    Error err = {0};
    scope(yard_release) Yard yard;
    scope(str_release) Str log;
    scope(build_release) Build none, one, moved;
    yard_open(&yard, "anvil: engine.c\n\tcc -o $@ $<\n");
    assert_int_equal(build(&yard, &none, &log, &err), BUILD_DONE);
    add_file(&yard, net_sha, "nets/small", "x");
    assert_int_equal(build_engine(&yard.context, &yard.recipe, yard.snapshot, &one, &log, &err),
                     BUILD_DONE);
    yard.recipe.files.items[0].path = "nets/other";
    assert_int_equal(build_engine(&yard.context, &yard.recipe, yard.snapshot, &moved, &log, &err),
                     BUILD_DONE);
    assert_string_not_equal(none.key, one.key);
    assert_string_not_equal(one.key, moved.key);
}

// What a tree holds already stays as it is: the file placed must be the same.
static void assert_in_the_way(const char *path, const char *text, BuildOutcome wanted,
                              const char *words) {
    Error err = {0};
    scope(yard_release) Yard yard;
    scope(str_release) Str log;
    scope(build_release) Build out;
    yard_open(&yard, "anvil: engine.c\n\tcc -o $@ $<\n");
    add_file(&yard, net_sha, path, text);
    BuildOutcome outcome = build(&yard, &out, &log, &err);
    if (outcome != wanted || !strstr(err.message, words))
        fail_msg("%s: outcome %d, '%s'", path, (int)outcome, err.message);
}

static void a_file_of_the_sources_is_never_replaced(void **state) {
    (void)state;
    static const char makefile[] = "anvil: engine.c\n\tcc -o $@ $<\n";
    assert_in_the_way("Makefile", makefile, BUILD_DONE, "");
    assert_in_the_way("Makefile", "anvil:\n\ttouch anvil\n", BUILD_FAILED, "another file");
    assert_in_the_way("engine.c/net", "x", BUILD_FAILED, "a file in place of its folder");
}

static void a_file_that_was_not_fetched_is_this_machines_fault(void **state) {
    (void)state;
    Error err = {0};
    scope(yard_release) Yard yard;
    scope(str_release) Str log;
    scope(build_release) Build out;
    yard_open(&yard, "anvil: engine.c\n\tcc -o $@ $<\n");
    yard.recipe.files = (TaskFiles){{{net_sha, "nets/small"}}, 1};
    assert_int_equal(build(&yard, &out, &log, &err), BUILD_BROKEN);
}

static void another_compiler_or_command_is_another_build(void **state) {
    (void)state;
    Error err = {0};
    scope(yard_release) Yard yard;
    scope(build_release) Build one, two;
    scope(str_release) Str log;
    yard_open(&yard, "anvil: engine.c\n\tcc -o $@ $<\n");
    assert_int_equal(build(&yard, &one, &log, &err), BUILD_DONE);
    yard.context.compilers = "gcc, newer";
    assert_int_equal(build_engine(&yard.context, &yard.recipe, yard.snapshot, &two, &log, &err),
                     BUILD_DONE);
    assert_string_not_equal(one.key, two.key);
}

static void a_build_that_fails_gives_the_compilers_words(void **state) {
    (void)state;
    assert_build_fails("anvil:\n\techo 'int main( {' > x.c; cc x.c -o anvil\n", "status 2",
                       "error:");
}

static void a_build_without_its_binary_fails(void **state) {
    (void)state;
    assert_build_fails("all:\n\techo nothing made\n", "made no file", "nothing made");
}

static void a_link_in_the_binarys_place_is_not_followed(void **state) {
    (void)state;
    assert_build_fails("all:\n\tln -s /bin/sh anvil\n", "made no file", "");
}

static void a_folder_that_cannot_be_entered_is_cleared_all_the_same(void **state) {
    (void)state;
    assert_build_fails("all:\n\tmkdir -p a/b/c; chmod 0 a/b a\n", "made no file", "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_gives_its_status_and_both_streams),
        cmocka_unit_test(a_job_killed_by_a_signal_says_so),
        cmocka_unit_test(of_much_output_the_last_words_are_kept),
        cmocka_unit_test(a_job_over_its_time_is_ended_with_its_children),
        cmocka_unit_test(a_raised_flag_ends_a_job),
        cmocka_unit_test(a_program_that_does_not_exist_fails_with_its_name),
        cmocka_unit_test(the_sandbox_hides_home_and_the_rest_of_the_disk),
        cmocka_unit_test(the_sandbox_has_no_network),
        cmocka_unit_test(the_sandbox_sees_no_other_processes),
        cmocka_unit_test(the_sandbox_starts_from_an_empty_environment),
        cmocka_unit_test(the_system_is_read_only_and_tmp_is_small),
        cmocka_unit_test(nobody_runs_inside_without_rights),
        cmocka_unit_test(the_sandbox_tells_nothing_of_the_hosts_paths),
        cmocka_unit_test(a_read_only_view_cannot_be_written),
        cmocka_unit_test(an_engine_is_built_kept_and_benched),
        cmocka_unit_test(files_of_the_recipe_lie_beside_the_engine_that_runs),
        cmocka_unit_test(another_file_or_another_place_of_it_is_another_build),
        cmocka_unit_test(a_file_of_the_sources_is_never_replaced),
        cmocka_unit_test(a_file_that_was_not_fetched_is_this_machines_fault),
        cmocka_unit_test(another_compiler_or_command_is_another_build),
        cmocka_unit_test(a_build_that_fails_gives_the_compilers_words),
        cmocka_unit_test(a_build_without_its_binary_fails),
        cmocka_unit_test(a_link_in_the_binarys_place_is_not_followed),
        cmocka_unit_test(a_folder_that_cannot_be_entered_is_cleared_all_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

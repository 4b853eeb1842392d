// What a child is given by os_spawn (worker/os.h): descriptors and an environment.
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "server/common/file.h"
#include "server/common/str.h"
#include "tests/kit/repo_kit.h"
#include "worker/sandbox/job.h"

enum { LIMIT_S = 600, LEFT_OPEN = 40 };

// What the program prints. New.
static char *output_of(const char *const *argv, const OsLimits *limits) {
    Error err;
    scope(job_result_release) JobResult result = {0};
    if (!job_run(&(JobSpec){argv, LIMIT_S, NULL, limits}, &result, &err))
        fail_msg("%s", err.message);
    return xstrdup(result.output.data);
}

static void assert_says(const char *script, const OsLimits *limits, const char *wanted) {
    char *said scope(free_ptr) =
        output_of((const char *const[]){"/bin/sh", "-c", script, NULL}, limits);
    assert_string_equal(said, wanted);
}

static void a_child_has_three_descriptors_whatever_is_open_here(void **state) {
    (void)state;
    static const char script[] =
        "for n in 3 4 5 6 7 8 9 33 40; do"
        " [ -e /proc/$$/fd/$n ] && readlink /proc/$$/fd/$n; done; echo end";
    static const OsLimits confined = {.confined = true};
    assert_int_equal(dup2(open("/", O_RDONLY), LEFT_OPEN), LEFT_OPEN);
    assert_says(script, NULL, "end\n");
    assert_says(script, &confined, "end\n");
    close(LEFT_OPEN);
}

static void an_engine_of_ones_own_has_ones_environment(void **state) {
    (void)state;
    setenv("PATCHMATE_KEPT", "kept", 1);
    assert_says("echo $PATCHMATE_KEPT", NULL, "kept\n");
    assert_says("echo $PATCHMATE_KEPT", &(OsLimits){.memory_bytes = 1 << 30}, "kept\n");
}

static void a_confined_child_has_none_of_it(void **state) {
    (void)state;
    static const OsLimits confined = {.confined = true};
    setenv("PATCHMATE_KEPT", "kept", 1);
    assert_says("env | grep -v -e ^PWD= -e ^SHLVL= -e ^_= -e ^OLDPWD= | sort", &confined,
                "HOME=/tmp\nLC_ALL=C.UTF-8\nPATH=/usr/local/bin:/usr/bin:/bin\n");
}

static void a_confined_program_is_searched_in_our_path(void **state) {
    (void)state;
    Error err;
    static const OsLimits confined = {.confined = true};
    static const char script[] = "#!/bin/sh\necho found by $PATH\n";
    char *folder scope(kit_folder_drop) = kit_folder();
    char *program scope(free_ptr) = xasprintf("%s/only-here", folder);
    char *before scope(free_ptr) = xstrdup(getenv("PATH"));
    char *path scope(free_ptr) = xasprintf("%s:%s", folder, before);
    assert_true(file_write_durable(program, script, strlen(script), &err));
    assert_int_equal(chmod(program, 0755), 0);
    setenv("PATH", path, 1);
    char *said scope(free_ptr) = output_of((const char *const[]){"only-here", NULL}, &confined);
    setenv("PATH", before, 1);
    assert_string_equal(said, "found by /usr/local/bin:/usr/bin:/bin\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_has_three_descriptors_whatever_is_open_here),
        cmocka_unit_test(an_engine_of_ones_own_has_ones_environment),
        cmocka_unit_test(a_confined_child_has_none_of_it),
        cmocka_unit_test(a_confined_program_is_searched_in_our_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

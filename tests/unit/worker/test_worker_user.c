// Root's way to an ordinary user: what it hands over, and what it refuses to. Each case runs in a
// child, because there is no way back.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/common/file.h"
#include "server/common/str.h"
#include "tests/kit/repo_kit.h"
#include "worker/os/user.h"

// What the child reports through its exit status.
enum { DONE, REFUSED, UNCLEAR, STILL_ROOT, CANNOT_WRITE };

static int become(const char *folder, const char *word) {
    Error err = {0};
    if (!os_become_user(folder, &err))
        return strstr(err.message, word) ? REFUSED : UNCLEAR;
    char *file scope(free_ptr) = xasprintf("%s/blobs/new", folder);
    if (geteuid() == 0 || setuid(0) == 0)
        return STILL_ROOT;
    return file_write_durable(file, "x", 1, &err) ? DONE : CANNOT_WRITE;
}

static int in_a_child(const char *folder, const char *word) {
    int status = -1;
    pid_t pid = fork();
    if (pid == 0)
        _exit(become(folder, word));
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A folder that everybody may enter, with a worker's cache in it.
static char *open_folder(char **cache) {
    char *folder = kit_folder();
    Error err;
    *cache = xasprintf("%s/cache", folder);
    char *blobs scope(free_ptr) = xasprintf("%s/blobs", *cache);
    chmod(folder, 0755);
    assert_true(folder_make(blobs, &err));
    kit_write(blobs, "old", "text\n");
    return folder;
}

static void root_becomes_a_user_who_owns_the_cache(void **state) {
    (void)state;
    if (geteuid() != 0)
        skip();
    char *cache scope(free_ptr) = NULL;
    char *folder scope(kit_folder_drop) = open_folder(&cache);
    assert_int_equal(access(folder, X_OK), 0);
    assert_int_equal(in_a_child(cache, ""), DONE);
    struct stat st;
    char *old scope(free_ptr) = xasprintf("%s/blobs/old", cache);
    assert_int_equal(stat(old, &st), 0);
    assert_int_not_equal(st.st_uid, 0);
    assert_int_equal(in_a_child(cache, ""), DONE); // and again, when it is that user's already
}

static void a_folder_that_holds_other_things_is_not_given_away(void **state) {
    (void)state;
    if (geteuid() != 0)
        skip();
    struct stat st;
    char *cache scope(free_ptr) = NULL;
    char *folder scope(kit_folder_drop) = open_folder(&cache);
    assert_int_equal(access(folder, X_OK), 0);
    kit_write(cache, "letter.txt", "mine\n");
    assert_int_equal(in_a_child(cache, "letter.txt"), REFUSED);
    assert_int_equal(stat(cache, &st), 0);
    assert_int_equal(st.st_uid, 0);
    assert_int_equal(in_a_child("/", "--cache"), REFUSED);
}

static void a_folder_that_the_user_cannot_reach_is_refused_with_advice(void **state) {
    (void)state;
    if (geteuid() != 0)
        skip();
    char *cache scope(free_ptr) = NULL;
    char *folder scope(kit_folder_drop) = open_folder(&cache);
    chmod(folder, 0700);
    assert_int_equal(in_a_child(cache, "--cache /var/lib/patchmate-worker"), REFUSED);
}

static void anybody_else_stays_who_he_is(void **state) {
    (void)state;
    Error err;
    pid_t pid = fork();
    if (pid == 0) {
        if (geteuid() == 0 && setuid(12345) < 0)
            _exit(1);
        uid_t before = geteuid();
        _exit(os_become_user("/no/such/folder", &err) && geteuid() == before ? 0 : 1);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(root_becomes_a_user_who_owns_the_cache),
        cmocka_unit_test(a_folder_that_holds_other_things_is_not_given_away),
        cmocka_unit_test(a_folder_that_the_user_cannot_reach_is_refused_with_advice),
        cmocka_unit_test(anybody_else_stays_who_he_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Snapshots from strangers: what comes out of them, and what never does.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/common/file.h"
#include "server/common/str.h"
#include "tests/kit/repo_kit.h"
#include "tests/kit/worker_kit.h"
#include "worker/build/unpack.h"

static void files_and_folders_come_out_as_they_went_in(void **state) {
    (void)state;
    Error err;
    char *folder scope(kit_folder_drop) = kit_folder();
    scope(kit_tar_release) KitTar tar = {0};
    kit_tar_add(&tar, KIT_FOLDER, "rules/", NULL, NULL, 0);
    kit_tar_add(&tar, KIT_FILE, "rules/a.c", NULL, "int a;\n", 7);
    kit_tar_add(&tar, KIT_FILE, "deep/er/b.c", NULL, "", 0);
    kit_tar_end(&tar);
    if (!unpack_memory(tar.data, tar.size, folder, &err))
        fail_msg("%s", err.message);
    char *a scope(free_ptr) = xasprintf("%s/rules/a.c", folder);
    char *b scope(free_ptr) = xasprintf("%s/deep/er/b.c", folder);
    char *text scope(free_ptr) = file_read(a, 100, NULL, &err);
    assert_string_equal(text, "int a;\n");
    assert_int_equal(access(b, F_OK), 0);
}

static void assert_refused(KitEntry type, const char *path, const char *target) {
    Error err = {0};
    char *folder scope(kit_folder_drop) = kit_folder();
    char *inner scope(free_ptr) = xasprintf("%s/in", folder);
    scope(kit_tar_release) KitTar tar = {0};
    mkdir(inner, 0755);
    kit_tar_add(&tar, type, path, target, type == KIT_FILE ? "x" : NULL, type == KIT_FILE);
    kit_tar_end(&tar);
    if (unpack_memory(tar.data, tar.size, inner, &err))
        fail_msg("'%s' was unpacked", path);
    assert_string_equal(err.code, "bad_archive");
    char *escaped scope(free_ptr) = xasprintf("%s/x", folder);
    assert_int_not_equal(access(escaped, F_OK), 0);
}

static void paths_that_lead_out_are_refused(void **state) {
    (void)state;
    assert_refused(KIT_FILE, "../x", NULL);
    assert_refused(KIT_FILE, "a/../../x", NULL);
    assert_refused(KIT_FILE, "/tmp/patchmate-escaped", NULL);
    assert_refused(KIT_FILE, "a//b", NULL);
    assert_refused(KIT_FILE, "./a", NULL);
    assert_refused(KIT_FOLDER, "../", NULL);
}

static void links_and_devices_are_refused(void **state) {
    (void)state;
    assert_refused(KIT_SYMLINK, "a", "/etc/passwd");
    assert_refused(KIT_HARDLINK, "a", "b");
    assert_refused(KIT_DEVICE, "a", NULL);
    assert_refused(KIT_BLOCK_DEVICE, "a", NULL);
    assert_refused(KIT_PIPE, "a", NULL);
}

static void names_with_control_characters_are_refused(void **state) {
    (void)state;
    assert_refused(KIT_FILE, "a\nb", NULL);
    assert_refused(KIT_FILE, "a\033[31m", NULL);
    assert_refused(KIT_FOLDER, "a\177/", NULL);
}

static void rights_of_other_users_are_refused(void **state) {
    (void)state;
    static const unsigned modes[] = {04755, 02755, 01777};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        Error err = {0};
        char *folder scope(kit_folder_drop) = kit_folder();
        scope(kit_tar_release) KitTar tar = {0};
        kit_tar_add_mode(&tar, KIT_FILE, "a", modes[i]);
        kit_tar_end(&tar);
        assert_false(unpack_memory(tar.data, tar.size, folder, &err));
        assert_non_null(strstr(err.message, "rights of another user"));
    }
}

// A header that promises more than the limit is refused before a byte is written.
static void a_bomb_is_refused(void **state) {
    (void)state;
    Error err = {0};
    char *folder scope(kit_folder_drop) = kit_folder();
    scope(kit_tar_release) KitTar tar = {0};
    kit_tar_add(&tar, KIT_FILE, "a", NULL, "", 0);
    unsigned sum = 0;
    memcpy(tar.data + 124, "77777777777", 11); // 8 GiB
    memset(tar.data + 148, ' ', 8);
    for (int i = 0; i < 512; i++)
        sum += (unsigned char)tar.data[i];
    snprintf(tar.data + 148, 8, "%06o", sum);
    kit_tar_end(&tar);
    assert_false(unpack_memory(tar.data, tar.size, folder, &err));
    assert_non_null(strstr(err.message, "too large"));
}

// Names that lead through what an earlier entry made a file.
static void a_file_is_no_folder(void **state) {
    (void)state;
    Error err = {0};
    char *folder scope(kit_folder_drop) = kit_folder();
    scope(kit_tar_release) KitTar tar = {0};
    kit_tar_add(&tar, KIT_FILE, "a", NULL, "x", 1);
    kit_tar_add(&tar, KIT_FILE, "a/b", NULL, "x", 1);
    kit_tar_end(&tar);
    assert_false(unpack_memory(tar.data, tar.size, folder, &err));
}

static void a_file_twice_is_refused(void **state) {
    (void)state;
    Error err;
    char *folder scope(kit_folder_drop) = kit_folder();
    scope(kit_tar_release) KitTar tar = {0};
    kit_tar_add(&tar, KIT_FILE, "a", NULL, "1", 1);
    kit_tar_add(&tar, KIT_FILE, "a", NULL, "2", 1);
    kit_tar_end(&tar);
    assert_false(unpack_memory(tar.data, tar.size, folder, &err));
}

static void more_files_than_the_limit_are_refused(void **state) {
    (void)state;
    Error err;
    char *folder scope(kit_folder_drop) = kit_folder();
    scope(kit_tar_release) KitTar tar = {0};
    for (int i = 0; i <= UNPACK_FILES_MAX; i++)
        kit_tar_add(&tar, KIT_FOLDER, "one/", NULL, NULL, 0);
    kit_tar_end(&tar);
    assert_false(unpack_memory(tar.data, tar.size, folder, &err));
    assert_non_null(strstr(err.message, "too many"));
}

static void what_is_no_tar_is_refused(void **state) {
    (void)state;
    Error err;
    char *folder scope(kit_folder_drop) = kit_folder();
    char bytes[4096];
    memset(bytes, 'x', sizeof bytes);
    assert_false(unpack_memory(bytes, sizeof bytes, folder, &err));
    assert_string_equal(err.code, "bad_archive");
}

static void an_archive_cut_short_is_refused(void **state) {
    (void)state;
    Error err;
    char *folder scope(kit_folder_drop) = kit_folder();
    scope(kit_tar_release) KitTar tar = {0};
    char *big scope(free_ptr) = xcalloc(1, 5000);
    kit_tar_add(&tar, KIT_FILE, "a", NULL, big, 5000);
    assert_false(unpack_memory(tar.data, tar.size - 1024, folder, &err));
}

// Single files are made and read below a folder, and nowhere else.
static void no_step_to_a_single_file_goes_through_a_link(void **state) {
    (void)state;
    char *folder scope(kit_folder_drop) = kit_folder();
    char *inner scope(free_ptr) = xasprintf("%s/in", folder);
    char *link scope(free_ptr) = xasprintf("%s/in/link", folder);
    char *escaped scope(free_ptr) = xasprintf("%s/x", folder);
    assert_int_equal(mkdir(inner, 0755), 0);
    assert_int_equal(symlink("..", link), 0);
    assert_int_equal(unpack_create(inner, "link/x", 0644), -1);
    assert_int_not_equal(access(escaped, F_OK), 0);
    assert_int_equal(unpack_create(inner, "link", 0644), -1);
    assert_int_equal(unpack_open(inner, "link"), -1);
    int made = unpack_create(inner, "nets/deep/x", 0644);
    assert_true(made >= 0);
    close(made);
    assert_int_equal(unpack_create(inner, "nets/deep/x", 0644), -1); // it is there
    int opened = unpack_open(inner, "nets/deep/x");
    assert_true(opened >= 0);
    close(opened);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_step_to_a_single_file_goes_through_a_link),
        cmocka_unit_test(files_and_folders_come_out_as_they_went_in),
        cmocka_unit_test(paths_that_lead_out_are_refused),
        cmocka_unit_test(links_and_devices_are_refused),
        cmocka_unit_test(names_with_control_characters_are_refused),
        cmocka_unit_test(rights_of_other_users_are_refused),
        cmocka_unit_test(a_bomb_is_refused),
        cmocka_unit_test(a_file_is_no_folder),
        cmocka_unit_test(a_file_twice_is_refused),
        cmocka_unit_test(more_files_than_the_limit_are_refused),
        cmocka_unit_test(what_is_no_tar_is_refused),
        cmocka_unit_test(an_archive_cut_short_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// What a patch is, beside git's own programs: server/patch/identity.h.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "server/common/file.h"
#include "server/common/str.h"
#include "server/git/git_program.h"
#include "server/patch/identity.h"
#include "tests/kit/repo_kit.h"

// A repository whose base has main.c, odd.bin and two more files.
typedef struct Kit {
    char *data, *source;
    git_repository *repo;
    char base[REPO_SHA_MAX];
} Kit;

static const char MAIN[] = "int a;\nint b;\nint c;\nint d;\nint e;\nint f;\nint g;\n";

static void write_bytes(Kit *kit, const char *name, const char *bytes, size_t size) {
    Error err;
    char *path scope(free_ptr) = xasprintf("%s/%s", kit->source, name);
    assert_true(file_write_durable(path, bytes, size, &err));
}

static int set_up(void **state) {
    Error err;
    Kit *kit = *state = calloc(1, sizeof *kit);
    kit->data = kit_folder();
    kit->source = xasprintf("%s/source", kit->data);
    kit->repo = repo_create(kit->data, "anvil", "main", &err);
    kit_write(kit->source, "main.c", MAIN);
    write_bytes(kit, "odd.bin", "\0one", 4);
    kit_write(kit->source, "mode.sh", "true\n");
    kit_write(kit->source, "emptied.c", "int h;\n");
    kit_commit(kit->repo, kit->source, NULL, kit->base);
    return 0;
}

static int tear_down(void **state) {
    Kit *kit = *state;
    repo_free(&kit->repo);
    kit_folder_drop(&kit->data);
    free(kit->source);
    free(kit);
    return 0;
}

static PatchIdentity between(Kit *kit, const char *base, const char *commit) {
    Error err;
    PatchIdentity identity;
    if (!patch_identify(kit->repo, base, commit, &identity, &err))
        fail_msg("%s", err.message);
    return identity;
}

// The identity of the commit that has main.c with this text.
static PatchIdentity of_main(Kit *kit, const char *text) {
    char sha[REPO_SHA_MAX];
    kit_write(kit->source, "main.c", text);
    kit_commit(kit->repo, kit->source, kit->base, sha);
    return between(kit, kit->base, sha);
}

// Runs git in the repository; its output.
static char *git(Kit *kit, const char *const *argv, const char *input) {
    Error err;
    Str out;
    str_init(&out, 1 << 20);
    char *folder scope(free_ptr) = xasprintf("GIT_DIR=%s/git/anvil.git", kit->data);
    const char *const env[] = {folder, NULL};
    GitCall call = {.argv = argv, .env = env, .input = input, .timeout_s = 600};
    call.input_size = input ? strlen(input) : 0;
    if (!git_run(&call, &out, &err))
        fail_msg("%s", err.message);
    return str_steal(&out);
}

static void assert_printed(Kit *kit, const char *from, const char *to, const char *how,
                           const char *id) {
    const char *const diff[] = {"git", "diff-tree", "-p", "--no-renames", from, to, NULL};
    const char *const patch_id[] = {"git", "patch-id", how, NULL};
    char *text scope(free_ptr) = git(kit, diff, NULL);
    char *printed scope(free_ptr) = git(kit, patch_id, text);
    assert_int_equal(strlen(id), REPO_SHA_MAX - 1);
    assert_memory_equal(printed, id, REPO_SHA_MAX - 1);
}

static void the_ids_are_those_that_git_prints(void **state) {
    Kit *kit = *state;
    char sha[REPO_SHA_MAX], *mode scope(free_ptr) = xasprintf("%s/mode.sh", kit->source);
    kit_write(kit->source, "main.c", "int a;\nint b;\nint bb;\nint c;\nint e;\nint f;\nint g;");
    kit_write(kit->source, "deep/new.c", "\n{\n}\n\n{\n}\n");
    kit_write(kit->source, "empty", "");
    kit_write(kit->source, "emptied.c", "");
    assert_int_equal(chmod(mode, 0755), 0);
    kit_commit(kit->repo, kit->source, kit->base, sha);
    PatchIdentity identity = between(kit, kit->base, sha);
    assert_string_equal(identity.missing, "");
    assert_printed(kit, kit->base, sha, "--stable", identity.id);
    assert_printed(kit, kit->base, sha, "--verbatim", identity.verbatim);
    assert_printed(kit, sha, kit->base, "--stable", identity.reverse);
    assert_printed(kit, sha, kit->base, "--verbatim", identity.verbatim_reverse);
    PatchIdentity back = between(kit, sha, kit->base);
    assert_string_equal(back.id, identity.reverse);
    assert_string_equal(back.reverse, identity.id);
    assert_string_equal(back.tree, identity.base_tree);
}

// "/" before "*p" divides; without the blank a comment begins.
static void white_space_changes_the_verbatim_id_only(void **state) {
    Kit *kit = *state;
    PatchIdentity code = of_main(kit, "int a;\nint b = c / *p; /* */\nint c;\nint d;\n");
    PatchIdentity comment = of_main(kit, "int a;\nint b = c /*p; /* */\nint c;\nint d;\n");
    assert_string_equal(code.id, comment.id);
    assert_string_equal(code.reverse, comment.reverse);
    assert_string_not_equal(code.verbatim, comment.verbatim);
    assert_string_not_equal(code.verbatim_reverse, comment.verbatim_reverse);
    assert_string_not_equal(code.tree, comment.tree);
}

static void the_place_of_a_change_is_no_part_of_its_id(void **state) {
    Kit *kit = *state;
    char moved[REPO_SHA_MAX], sha[REPO_SHA_MAX];
    PatchIdentity here = of_main(kit, "int a;\nint b;\nint c;\nint x;\nint e;\nint f;\nint g;\n");
    kit_write(kit->source, "main.c",
              "// one\n// two\nint a;\nint b;\nint c;\nint d;\nint e;\nint f;\nint g;\n");
    kit_commit(kit->repo, kit->source, kit->base, moved);
    kit_write(kit->source, "main.c",
              "// one\n// two\nint a;\nint b;\nint c;\nint x;\nint e;\nint f;\nint g;\n");
    kit_commit(kit->repo, kit->source, moved, sha);
    PatchIdentity there = between(kit, moved, sha);
    assert_string_equal(here.verbatim, there.verbatim);
    assert_string_not_equal(here.tree, there.tree);
}

// git patch-id reads a line up to its first NUL. Git calls a file binary for a NUL in its first
// 8000 bytes.
static void patches_that_git_would_not_read_to_their_end_have_no_id(void **state) {
    Kit *kit = *state;
    enum { LATE = 9000 };
    char sha[REPO_SHA_MAX], text[LATE + 20];
    write_bytes(kit, "odd.bin", "\0two", 4);
    kit_commit(kit->repo, kit->source, kit->base, sha);
    PatchIdentity binary = between(kit, kit->base, sha);
    assert_non_null(strstr(binary.missing, "binary"));
    write_bytes(kit, "odd.bin", "\0one", 4);
    for (size_t i = 0; i < LATE; i++)
        text[i] = "x\n"[i % 2];
    static const char *const ends[] = {"a\0b\n", "a\0c\n"};
    for (size_t i = 0; i < 2; i++) {
        memcpy(text + LATE, ends[i], 4);
        write_bytes(kit, "late.c", text, LATE + 4);
        kit_commit(kit->repo, kit->source, kit->base, sha);
        PatchIdentity late = between(kit, kit->base, sha);
        assert_non_null(strstr(late.missing, "binary"));
        assert_string_equal(late.id, "");
        assert_int_equal(strlen(late.tree), 40);
    }
}

static void a_mode_is_a_part_of_the_id(void **state) {
    Kit *kit = *state;
    char sha[2][REPO_SHA_MAX];
    char *path scope(free_ptr) = xasprintf("%s/new.sh", kit->source);
    char *main_c scope(free_ptr) = xasprintf("%s/main.c", kit->source);
    kit_write(kit->source, "new.sh", "true\n");
    kit_commit(kit->repo, kit->source, kit->base, sha[0]);
    assert_int_equal(chmod(path, 0755), 0);
    kit_commit(kit->repo, kit->source, kit->base, sha[1]);
    assert_string_not_equal(between(kit, kit->base, sha[0]).id, between(kit, kit->base, sha[1]).id);
    assert_int_equal(chmod(main_c, 0755), 0);
    kit_commit(kit->repo, kit->source, kit->base, sha[0]);
    assert_string_not_equal(between(kit, kit->base, sha[0]).id, between(kit, kit->base, sha[1]).id);
}

static void equal_trees_have_no_id_and_lack_none(void **state) {
    Kit *kit = *state;
    PatchIdentity none = between(kit, kit->base, kit->base);
    assert_string_equal(none.tree, none.base_tree);
    assert_string_equal(none.id, "");
    assert_string_equal(none.missing, "");
}

static void a_change_of_a_file_over_the_limit_has_no_id(void **state) {
    Kit *kit = *state;
    size_t size = (4 << 20) + 2;
    char sha[2][REPO_SHA_MAX], *text scope(free_ptr) = xmalloc(size);
    for (size_t i = 0; i < size; i++)
        text[i] = "x\n"[i % 2];
    write_bytes(kit, "large.c", text, size);
    kit_commit(kit->repo, kit->source, NULL, sha[0]);
    text[0] = 'y';
    write_bytes(kit, "large.c", text, size);
    kit_commit(kit->repo, kit->source, sha[0], sha[1]);
    assert_non_null(strstr(between(kit, sha[0], sha[1]).missing, "one of over 4 MiB"));
}

static void a_diff_over_the_limit_has_no_id(void **state) {
    Kit *kit = *state;
    size_t size = 3 << 20;
    char sha[REPO_SHA_MAX], *text scope(free_ptr) = xmalloc(size);
    memset(text, 'x', size);
    for (int i = 0; i < 3; i++) {
        char name[20];
        snprintf(name, sizeof name, "%d.c", i);
        write_bytes(kit, name, text, size);
    }
    kit_commit(kit->repo, kit->source, kit->base, sha);
    assert_non_null(strstr(between(kit, kit->base, sha).missing, "its diff has over 4 MiB"));
}

// A program of that name stands in front of git. NULL: there is no git.
static PatchIdentity with_git(Kit *kit, const char *script) {
    char *path scope(free_ptr) = xstrdup(getenv("PATH"));
    char *folder scope(free_ptr) = xasprintf("%s/bin", kit->data);
    char *program scope(free_ptr) = xasprintf("%s/git", folder);
    kit_write(folder, "git", script ? script : "");
    assert_int_equal(chmod(program, script ? 0755 : 0644), 0);
    setenv("PATH", folder, 1);
    PatchIdentity identity = of_main(kit, "int other;\n");
    setenv("PATH", path, 1);
    return identity;
}

static void without_an_answer_of_git_there_are_the_trees_and_the_reason(void **state) {
    Kit *kit = *state;
    static const struct {
        const char *script, *words;
    } rows[] = {
        {NULL, "cannot start git"},
        {"#!/bin/sh\necho 'error: unknown option' >&2\nexit 129\n", "unknown option"},
        {"#!/bin/sh\nexit 0\n", "did not print two patch-ids"},
        {"#!/bin/sh\nfor name in 1111111111111111111111111111111111111111 "
         "2222222222222222222222222222222222222222 3333333333333333333333333333333333333333; do\n"
         "echo 0123456789012345678901234567890123456789 $name; done\n",
         "did not print two patch-ids"},
        {"#!/bin/sh\necho 0123456789012345678901234567890123456789 "
         "1111111111111111111111111111111111111111\n",
         "did not print two patch-ids"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PatchIdentity identity = with_git(kit, rows[i].script);
        if (!strstr(identity.missing, rows[i].words))
            fail_msg("%s: '%s'", rows[i].words, identity.missing);
        assert_string_equal(identity.id, "");
        assert_string_equal(identity.verbatim_reverse, "");
        assert_int_equal(strlen(identity.tree), 40);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_ids_are_those_that_git_prints, set_up, tear_down),
        cmocka_unit_test_setup_teardown(white_space_changes_the_verbatim_id_only, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_place_of_a_change_is_no_part_of_its_id, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(patches_that_git_would_not_read_to_their_end_have_no_id,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_mode_is_a_part_of_the_id, set_up, tear_down),
        cmocka_unit_test_setup_teardown(equal_trees_have_no_id_and_lack_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_change_of_a_file_over_the_limit_has_no_id, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_diff_over_the_limit_has_no_id, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_an_answer_of_git_there_are_the_trees_and_the_reason,
                                        set_up, tear_down),
    };
    signal(SIGPIPE, SIG_IGN); // as in the server
    return cmocka_run_group_tests_name("patch_identity", tests, NULL, NULL);
}

// File names that need care: blanks, quotes, other scripts. They are made here, because not every
// tool that walks this source tree could bear them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/git/tree.h"
#include "server/patch/patch.h"
#include "tests/kit/repo_kit.h"

// The content of `name` after `text` was applied to a tree with `before` in file `old`; NULL when
// the patch was refused.
static char *apply(const char *old, const char *before, const char *text, const char *name,
                   Error *err) {
    char *data scope(kit_folder_drop) = kit_folder();
    char *source scope(free_ptr) = xasprintf("%s/source", data);
    kit_write(source, old, before);
    git_repository *repo scope(repo_free) = repo_create(data, "anvil", "main", err);
    git_oid base, result;
    assert_true(repo_tree_import(repo, source, &base, err));
    Patch patch scope(patch_release) = {0};
    if (!patch_parse(text, strlen(text), &patch, err) ||
        !patch_apply(repo, &patch.mails[0], &base, &result, err))
        return NULL;
    git_tree *tree = NULL;
    git_object *blob = NULL;
    assert_int_equal(git_tree_lookup(&tree, repo, &result), 0);
    assert_int_equal(git_object_lookup_bypath(&blob, (git_object *)tree, name, GIT_OBJECT_BLOB), 0);
    char *content =
        xstrndup(git_blob_rawcontent((git_blob *)blob), (size_t)git_blob_rawsize((git_blob *)blob));
    git_object_free(blob);
    git_tree_free(tree);
    return content;
}

static void becomes_two(const char *old, const char *text, const char *name) {
    Error err = {0};
    char *content scope(free_ptr) = apply(old, "one\n", text, name, &err);
    if (!content)
        fail_msg("%s", err.message);
    assert_string_equal(content, "two\n");
}

static void a_name_with_a_blank_is_read(void **state) {
    (void)state;
    becomes_two("a b.txt",
                "diff --git a/a b.txt b/a b.txt\n--- a/a b.txt\t\n+++ b/a b.txt\t\n@@ -1 +1 @@\n"
                "-one\n+two\n",
                "a b.txt");
}

static void a_quoted_name_is_read(void **state) {
    (void)state;
    becomes_two("gross \"x\".txt",
                "diff --git \"a/gross \\\"x\\\".txt\" \"b/gross \\\"x\\\".txt\"\n"
                "--- \"a/gross \\\"x\\\".txt\"\n+++ \"b/gross \\\"x\\\".txt\"\n"
                "@@ -1 +1 @@\n-one\n+two\n",
                "gross \"x\".txt");
}

static void a_rename_to_a_name_with_a_blank_is_read(void **state) {
    (void)state;
    Error err = {0};
    char *content scope(free_ptr) =
        apply("ab.txt", "one\n",
              "diff --git a/ab.txt b/a b.txt\nsimilarity index 100%\nrename from ab.txt\n"
              "rename to a b.txt\n",
              "a b.txt", &err);
    assert_non_null(content);
    assert_string_equal(content, "one\n");
}

static void a_folder_of_one_letter_is_no_prefix_of_git(void **state) {
    (void)state;
    becomes_two("a/x.txt",
                "diff --git a/a/x.txt b/a/x.txt\n--- a/a/x.txt\n+++ b/a/x.txt\n@@ -1 +1 @@\n-one\n"
                "+two\n",
                "a/x.txt");
}

// Builds of such names differ with the machine's character set and file system.
static void a_name_that_is_not_plain_is_refused_and_shown(void **state) {
    (void)state;
    static const char *const names[][2] = {{"\\377", "\\xff"},
                                           {"gr\\303\\266sse.c", "gr\303\266sse.c"},
                                           {".git\\342\\200\\214/x", ".git\\u200c/x"},
                                           {"a\\033[2Kb", "a\\x1b[2Kb"},
                                           {"a\\nb", "a\\x0ab"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *text scope(free_ptr) =
            xasprintf("diff --git \"a/%s\" \"b/%s\"\nnew file mode 100644\n--- /dev/null\n"
                      "+++ \"b/%s\"\n@@ -0,0 +1 @@\n+x\n",
                      names[i][0], names[i][0], names[i][0]);
        Error err = {0};
        assert_null(apply("x.txt", "one\n", text, "", &err));
        assert_string_equal(err.code, "patch_path");
        assert_int_equal(err.status, 422);
        if (!strstr(err.message, names[i][1]))
            fail_msg("%s", err.message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_with_a_blank_is_read),
        cmocka_unit_test(a_quoted_name_is_read),
        cmocka_unit_test(a_rename_to_a_name_with_a_blank_is_read),
        cmocka_unit_test(a_folder_of_one_letter_is_no_prefix_of_git),
        cmocka_unit_test(a_name_that_is_not_plain_is_refused_and_shown),
    };
    return cmocka_run_group_tests_name("patch_names", tests, NULL, NULL);
}

// Whether a change is the one that a person has seen: the same lines, byte for byte, in plain
// files.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/git/repo.h"
#include "server/patch/same_lines.h"
#include "tests/kit/submit_kit.h"

#define MAIN(lines, added)                                                                         \
    "--- a/main.c\n+++ b/main.c\n@@ -1,3 +1," #lines " @@\n int main(void) {\n" added              \
    "     return 0;\n }\n"

static int64_t submitted(SubmitKit *kit, const char *patch) {
    submit_kit_as(kit, KIT_AUTHOR);
    int64_t test = submit_kit_submit(kit, "{\"title\": \"A test\"}", patch);
    if (!test)
        fail_msg("%s", kit->ledger.err.message);
    return test;
}

// Compares the changes of two tests.
static bool same(SubmitKit *kit, int64_t seen, int64_t again, char why[SAME_WHY_MAX]) {
    char *commits[4];
    for (int i = 0; i < 4; i++)
        commits[i] =
            kit_text(&kit->ledger, "SELECT sha FROM sides WHERE test_id = %lld AND side = '%s'",
                     (long long)(i < 2 ? seen : again), i % 2 ? "new" : "base");
    git_repository *repo scope(repo_free) =
        repo_open(submit_kit_as(kit, KIT_MAINTAINER)->data, "anvil", &kit->ledger.err);
    assert_non_null(repo);
    bool result = patch_same_lines(repo, (CommitRange){commits[0], commits[1]},
                                   (CommitRange){commits[2], commits[3]}, "net", why);
    for (int i = 0; i < 4; i++)
        free(commits[i]);
    return result;
}

static void a_change_is_the_same_as_itself(void **state) {
    char why[SAME_WHY_MAX];
    int64_t one = submitted(*state, MAIN(4, "+    // f();\n"));
    assert_true(same(*state, one, one, why));
    assert_string_equal(why, "");
}

// By git's patch-id these are one change: it reads no blanks, and no ends of lines.
static void a_comment_that_becomes_code_is_another_change(void **state) {
    SubmitKit *kit = *state;
    char why[SAME_WHY_MAX];
    int64_t comment = submitted(kit, MAIN(4, "+    //+f();\n"));
    int64_t code = submitted(kit, MAIN(5, "+    //\n+f();\n"));
    assert_int_equal(kit_int(&kit->ledger,
                             "SELECT count(DISTINCT patch_id) FROM ideas WHERE test_id >= %lld",
                             (long long)comment),
                     1);
    assert_false(same(kit, comment, code, why));
    assert_string_equal(why, "its removed and added lines are others now");
}

static void what_is_no_plain_file_is_never_the_same(void **state) {
    static const struct {
        const char *patch, *why;
    } cases[] = {
        {SUBMIT_KIT_NEW("x/Makefile", "100644", "all:"),
         "x/Makefile decides how the engine is built"},
        {SUBMIT_KIT_NEW(".ci/run.c", "100644", "a"), ".ci/run.c lies in a hidden folder"},
        {SUBMIT_KIT_NEW("net", "100644", "none"), "net names the net"},
        {SUBMIT_KIT_NEW("tool.c", "100755", "a"),
         "the mode of tool.c changes or is not that of a plain file"},
        {"diff --git a/main.c b/main.c\nold mode 100644\nnew mode 100755\n",
         "the mode of main.c changes or is not that of a plain file"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char why[SAME_WHY_MAX];
        int64_t test = submitted(*state, cases[i].patch);
        assert_false(same(*state, test, test, why));
        assert_string_equal(why, cases[i].why);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, submit_kit_set_up, submit_kit_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_change_is_the_same_as_itself),
        TEST(a_comment_that_becomes_code_is_another_change),
        TEST(what_is_no_plain_file_is_never_the_same),
    };
    return cmocka_run_group_tests_name("patch_same", tests, NULL, NULL);
}

// Engines' repositories: names, commits, messages, trees from and to folders.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <fcntl.h>

#include "server/common/file.h"
#include "server/git/git_program.h"
#include "server/git/tree.h"
#include "tests/kit/repo_kit.h"

static void the_last_bench_line_of_a_message_counts(void **state) {
    (void)state;
    static const struct {
        const char *message;
        int64_t bench;
    } rows[] = {{"Subject\n\nBench: 1234567\n", 1234567},
                {"Subject\n\nBench: 1\nbench 22\n", 22},
                {"Subject\n\nbench:3", 3},
                {"Subject\n\n  Bench : 44  \n", 44},
                {"Bench: 5 nodes\n", 0},
                {"Bench: 0\n", 0},
                {"Benchmark 5\n", 0},
                {"The bench: 5\n", 0},
                {"Bench: 99999999999999999999\n", 0},
                {"", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(repo_message_bench(rows[i].message), rows[i].bench);
}

static void engine_names_cannot_lead_out_of_the_data_folder(void **state) {
    (void)state;
    Error err;
    assert_true(repo_name_is_valid("anvil-2_x"));
    static const char *const bad[] = {"", "..", "a/b", "a.b", "-a", "a\n", "a b"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(repo_name_is_valid(bad[i]));
        assert_null(repo_open("/nonexistent", bad[i], &err));
        assert_int_equal(err.status, 422);
    }
}

static void branches_and_hex_resolve_and_other_revisions_do_not(void **state) {
    (void)state;
    Error err;
    char first[REPO_SHA_MAX], second[REPO_SHA_MAX], found[REPO_SHA_MAX];
    char *data scope(kit_folder_drop) = kit_folder();
    char *source scope(free_ptr) = xasprintf("%s/source", data);
    kit_write(source, "a.c", "1\n");
    git_repository *repo scope(repo_free) = repo_create(data, "anvil", "main", &err);
    kit_commit(repo, source, NULL, first);
    kit_write(source, "a.c", "2\n");
    kit_commit(repo, source, first, second);
    assert_true(repo_ref_set(repo, "refs/heads/main", second, &err));
    assert_true(repo_resolve(repo, "main", found, &err));
    assert_string_equal(found, second);
    char *shortened scope(free_ptr) = xstrndup(first, 7);
    assert_true(repo_resolve(repo, shortened, found, &err));
    assert_string_equal(found, first);
    static const char *const bad[] = {
        "main^",           "HEAD", "main~1",
        "refs/heads/main", "",     "abc",
        "../main",         ":/A",  "0000000000000000000000000000000000000000"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(repo_resolve(repo, bad[i], found, &err));
    assert_true(repo_is_ancestor(repo, first, second));
    assert_true(repo_is_ancestor(repo, first, first));
    assert_false(repo_is_ancestor(repo, second, first));
}

static void import_leaves_out_what_a_build_leaves_behind(void **state) {
    (void)state;
    Error err;
    char commit[REPO_SHA_MAX];
    char *data scope(kit_folder_drop) = kit_folder();
    char *source scope(free_ptr) = xasprintf("%s/source", data);
    char *out scope(free_ptr) = xasprintf("%s/out", data);
    char *link scope(free_ptr) = xasprintf("%s/source/link", data);
    static const char *const left[] = {"obj/a.c", "rules/a.o", "x.d", ".git/config", "mine.txt"};
    kit_write(source, "rules/a.c", "int a;\n");
    kit_write(source, ".gitignore", "mine.txt\n");
    kit_write(source, "anvil",
              "\x7f"
              "ELF");
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        kit_write(source, left[i], "x\n");
    assert_int_equal(symlink("/etc/passwd", link), 0);
    git_repository *repo scope(repo_free) = repo_create(data, "anvil", "main", &err);
    kit_commit(repo, source, NULL, commit);
    assert_true(repo_tree_export(repo, commit, out, &err));
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        char *path scope(free_ptr) = xasprintf("%s/%s", out, left[i]);
        assert_int_not_equal(access(path, F_OK), 0);
    }
    char *there scope(free_ptr) = xasprintf("%s/rules/a.c", out);
    char *program scope(free_ptr) = xasprintf("%s/anvil", out);
    assert_int_equal(access(there, F_OK), 0);
    assert_int_not_equal(access(program, F_OK), 0);
    assert_false(repo_tree_export(repo, commit, out, &err));
    assert_string_equal(err.code, "not_empty");
}

static void an_empty_folder_is_no_source(void **state) {
    (void)state;
    Error err;
    git_oid tree;
    char *data scope(kit_folder_drop) = kit_folder();
    char *source scope(free_ptr) = xasprintf("%s/source", data);
    assert_true(folder_make(source, &err));
    git_repository *repo scope(repo_free) = repo_create(data, "anvil", "main", &err);
    assert_false(repo_tree_import(repo, source, &tree, &err));
    assert_string_equal(err.code, "tree_empty");
}

// `git prune` leaves young objects alone. So what a merge writes is safe from it, even if the same
// object was in the repository already and nothing referred to it.
static void an_object_that_is_written_again_is_young_again(void **state) {
    (void)state;
    Error err;
    git_oid oid;
    char hex[GIT_OID_HEXSZ + 1] = "";
    struct stat st;
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    char *data scope(kit_folder_drop) = kit_folder();
    git_repository *repo scope(repo_free) = repo_create(data, "anvil", "main", &err);
    assert_int_equal(git_blob_create_from_buffer(&oid, repo, "text", 4), 0);
    git_oid_fmt(hex, &oid);
    char *path scope(free_ptr) = xasprintf("%s/git/anvil.git/objects/%.2s/%s", data, hex, hex + 2);
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    git_repository *again scope(repo_free) = repo_open(data, "anvil", &err);
    assert_int_equal(git_blob_create_from_buffer(&oid, again, "text", 4), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_mtim.tv_sec > 1000);
}

static void git_says_what_went_wrong_and_is_ended_in_time(void **state) {
    (void)state;
    Error err;
    Str out scope(str_release);
    str_init(&out, 100);
    const char *version[] = {"git", "version", NULL};
    assert_true(git_run(&(GitCall){.argv = version, .timeout_s = 600}, &out, &err));
    assert_memory_equal(out.data, "git version", 11);
    const char *wrong[] = {"git", "no-such-command", NULL};
    assert_false(git_run(&(GitCall){.argv = wrong, .timeout_s = 600}, &out, &err));
    assert_non_null(strstr(err.message, "no-such-command"));
    const char *waits[] = {"git", "-c", "alias.w=!sleep 100", "w", NULL};
    assert_false(git_run(&(GitCall){.argv = waits, .timeout_s = 0.2}, &out, &err));
    assert_string_equal(err.code, "git_timeout");
    const char *much[] = {"git", "help", "-a", NULL};
    assert_false(git_run(&(GitCall){.argv = much, .timeout_s = 600}, &out, &err));
    assert_string_equal(err.code, "too_large");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_bench_line_of_a_message_counts),
        cmocka_unit_test(engine_names_cannot_lead_out_of_the_data_folder),
        cmocka_unit_test(branches_and_hex_resolve_and_other_revisions_do_not),
        cmocka_unit_test(import_leaves_out_what_a_build_leaves_behind),
        cmocka_unit_test(an_empty_folder_is_no_source),
        cmocka_unit_test(an_object_that_is_written_again_is_young_again),
        cmocka_unit_test(git_says_what_went_wrong_and_is_ended_in_time),
    };
    return cmocka_run_group_tests_name("repo", tests, NULL, NULL);
}

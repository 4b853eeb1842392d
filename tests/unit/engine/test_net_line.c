// Which net a commit names: the line, the place, the tree.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "server/git/net_use.h"
#include "tests/kit/repo_kit.h"

#define NAME "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // of "abc"
static const NetRule rule = {NET_FILE_DEFAULT, NET_PATH_DEFAULT};

// ---- the line

static void assert_line(const char *text, const char *wanted) {
    Error err = {0};
    char sha[SHA256_HEX_MAX];
    if (!net_line_read(text, strlen(text), sha, &err))
        fail_msg("'%s': %s", text, err.message);
    assert_string_equal(sha, wanted);
}

static void the_line_is_a_name_or_none(void **state) {
    (void)state;
    assert_line(NAME "\n", NAME);
    assert_line(NAME, NAME);
    assert_line(NAME " \t\n\n", NAME);
    assert_line("none\n", "");
    assert_line("", "");
    assert_line("\n", "");
}

static void anything_else_is_refused_and_shown(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"nn-62ef826d1a6d.nnue\n", "'nn-62ef826d1a6d.nnue'"},
        {NAME "0\n", "ba7816bf8f01cfea414140de…"},
        {"BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD\n", "lower-case"},
        {NAME "\r\n", "one line"},
        {NAME "\n" NAME "\n", "one line"},
        {" " NAME "\n", "one line"},
        {"../../etc/passwd", "'../../etc/passwd'"},
        {"None\n", "or none"},
        {"\xff\xfe", "'\?\?'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Error err = {0};
        char sha[SHA256_HEX_MAX];
        if (net_line_read(cases[i].text, strlen(cases[i].text), sha, &err))
            fail_msg("'%s' was taken", cases[i].text);
        if (!strstr(err.message, cases[i].words))
            fail_msg("'%s': %s", cases[i].text, err.message);
        assert_string_equal(err.code, "bad_net");
        assert_string_equal(sha, "");
    }
}

static void a_nul_in_the_line_is_no_end_of_it(void **state) {
    (void)state;
    Error err;
    char sha[SHA256_HEX_MAX], text[] = NAME "\n";
    text[40] = 0;
    assert_false(net_line_read(text, sizeof text - 1, sha, &err));
}

// ---- the place

static void a_rule_stays_inside_the_tree(void **state) {
    (void)state;
    Error err;
    static const NetRule good[] = {
        {"net", "nets/{sha256}"}, {"src/net.txt", "src/{sha256}.nnue"}, {"", "of no use"}};
    static const NetRule bad[] = {{"/net", "nets/{sha256}"},     {"../net", "nets/{sha256}"},
                                  {"net", "nets/net"},           {"net", "../{sha256}"},
                                  {"net", "/nets/{sha256}"},     {"net", "{sha256}/{sha256}"},
                                  {"net", "nets//{sha256}"},     {"net", "-{sha256}"},
                                  {".git/net", "nets/{sha256}"}, {"net", ""}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!net_rule_check(&good[i], &err))
            fail_msg("%s, %s: %s", good[i].file, good[i].path, err.message);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (net_rule_check(&bad[i], &err))
            fail_msg("%s, %s was taken", bad[i].file, bad[i].path);
}

static void the_name_stands_in_its_place_in_the_path(void **state) {
    (void)state;
    char path[NET_PATH_MAX];
    assert_string_equal(net_place(&rule, NAME, path), "nets/" NAME);
    const NetRule other = {"net", "src/net-{sha256}.bin"};
    assert_string_equal(net_place(&other, NAME, path), "src/net-" NAME ".bin");
}

// ---- the tree

typedef struct Yard {
    char *data, *source;
    git_repository *repo;
} Yard;

static void yard_open(Yard *yard) {
    Error err;
    yard->data = kit_folder();
    yard->source = xasprintf("%s/source", yard->data);
    yard->repo = repo_create(yard->data, "anvil", "main", &err);
    if (!yard->repo)
        fail_msg("%s", err.message);
    kit_write(yard->source, "search.c", "int x;\n");
}

static void yard_close(Yard *yard) {
    repo_free(&yard->repo);
    free(yard->source);
    kit_folder_drop(&yard->data);
}

// Of a commit of what the source folder holds now.
static bool use_of(const Yard *yard, NetUse *use, Error *err) {
    char sha[REPO_SHA_MAX];
    kit_commit(yard->repo, yard->source, NULL, sha);
    *err = (Error){0};
    return net_of_commit(yard->repo, sha, &rule, use, err);
}

static void a_tree_names_a_net_brings_it_or_has_none(void **state) {
    (void)state;
    Error err;
    NetUse use;
    Yard yard scope(yard_close) = {0};
    yard_open(&yard);
    assert_true(use_of(&yard, &use, &err));
    assert_string_equal(use.sha, "");
    kit_write(yard.source, "net", NAME "\n");
    assert_true(use_of(&yard, &use, &err));
    assert_string_equal(use.sha, NAME);
    assert_string_equal(use.path, "nets/" NAME);
    kit_write(yard.source, "nets/" NAME, "abc");
    assert_true(use_of(&yard, &use, &err));
    assert_string_equal(use.sha, NAME);
    assert_string_equal(use.path, "");
    json_auto_t *files = net_files(&use);
    assert_int_equal(json_array_size(files), 0);
}

static void what_lies_in_the_nets_place_must_be_the_net(void **state) {
    (void)state;
    Error err;
    NetUse use;
    Yard yard scope(yard_close) = {0};
    yard_open(&yard);
    kit_write(yard.source, "net", NAME "\n");
    kit_write(yard.source, "nets/" NAME, "abcd");
    assert_false(use_of(&yard, &use, &err));
    assert_non_null(strstr(err.message, "holds other bytes than its name says"));
    assert_string_equal(err.code, "bad_net");
}

static void a_folder_in_the_nets_place_is_refused(void **state) {
    (void)state;
    Error err;
    NetUse use;
    Yard yard scope(yard_close) = {0};
    yard_open(&yard);
    kit_write(yard.source, "net", NAME "\n");
    kit_write(yard.source, "nets/" NAME "/x", "abc");
    assert_false(use_of(&yard, &use, &err));
    assert_non_null(strstr(err.message, "is not a file"));
}

static void a_net_in_the_place_of_its_name_is_told(void **state) {
    (void)state;
    Error err;
    NetUse use;
    Yard yard scope(yard_close) = {0};
    yard_open(&yard);
    char *large scope(free_ptr) = xmalloc(5001);
    memset(large, 'x', 5000);
    large[5000] = 0;
    kit_write(yard.source, "net", large);
    assert_false(use_of(&yard, &use, &err));
    assert_non_null(strstr(err.message, "net has 5000 bytes"));
    kit_write(yard.source, "net", "nn-123.nnue\n");
    assert_false(use_of(&yard, &use, &err));
    assert_non_null(strstr(err.message, "net: holds 'nn-123.nnue"));
}

static void a_folder_called_net_and_an_engine_without_nets_name_none(void **state) {
    (void)state;
    Error err;
    NetUse use;
    char sha[REPO_SHA_MAX];
    Yard yard scope(yard_close) = {0};
    yard_open(&yard);
    kit_write(yard.source, "net/a.c", "int y;\n");
    assert_true(use_of(&yard, &use, &err));
    assert_string_equal(use.sha, "");
    kit_write(yard.source, "mynet", "rubbish\n");
    kit_commit(yard.repo, yard.source, NULL, sha);
    assert_true(net_of_commit(yard.repo, sha, &(NetRule){"", ""}, &use, &err));
    assert_string_equal(use.sha, "");
    assert_false(net_of_commit(yard.repo, sha, &(NetRule){"mynet", "n{sha256}"}, &use, &err));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_line_is_a_name_or_none),
        cmocka_unit_test(anything_else_is_refused_and_shown),
        cmocka_unit_test(a_nul_in_the_line_is_no_end_of_it),
        cmocka_unit_test(a_rule_stays_inside_the_tree),
        cmocka_unit_test(the_name_stands_in_its_place_in_the_path),
        cmocka_unit_test(a_tree_names_a_net_brings_it_or_has_none),
        cmocka_unit_test(what_lies_in_the_nets_place_must_be_the_net),
        cmocka_unit_test(a_folder_in_the_nets_place_is_refused),
        cmocka_unit_test(a_net_in_the_place_of_its_name_is_told),
        cmocka_unit_test(a_folder_called_net_and_an_engine_without_nets_name_none),
    };
    return cmocka_run_group_tests_name("net_line", tests, NULL, NULL);
}

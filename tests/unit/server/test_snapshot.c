// Snapshots and blobs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <utime.h>

#include <cmocka.h>

#include "server/common/file.h"
#include "server/git/snapshot.h"
#include "server/storage/blob.h"
#include "tests/kit/repo_kit.h"

// The tar of this tree, for ever: another byte would make every worker fetch and build anew.
static const char known_sha[] = "2bbafa0568145208e1903672fd73021a98c72a6edd910ab69eec7045b637a103";

static git_repository *new_repo(const char *data) {
    Error err;
    git_repository *repo = repo_create(data, "anvil", "main", &err);
    if (!repo)
        fail_msg("%s", err.message);
    return repo;
}

static void write_source(const char *folder) {
    kit_write(folder, "search.c", "int x;\n");
    kit_write(folder, "search/deep.c", "int y;\n");
    kit_write(folder, "search-more.c", "");
    kit_write(folder, "run.sh", "#!/bin/sh\n");
    char *path scope(free_ptr) = xasprintf("%s/run.sh", folder);
    chmod(path, 0755);
}

static void make(git_repository *repo, const char *commit, Str *tar) {
    Error err;
    str_init(tar, 1 << 20);
    if (!snapshot_make(repo, commit, tar, &err))
        fail_msg("%s", err.message);
}

static void a_snapshot_is_the_same_bytes_whenever_and_wherever_it_is_made(void **state) {
    (void)state;
    char *data scope(kit_folder_drop) = kit_folder();
    char *other scope(kit_folder_drop) = kit_folder();
    char *source scope(free_ptr) = xasprintf("%s/source", data);
    write_source(source);
    git_repository *a scope(repo_free) = new_repo(data), *b scope(repo_free) = new_repo(other);
    char first[REPO_SHA_MAX], second[REPO_SHA_MAX], sha[SHA256_HEX_MAX];
    kit_commit(a, source, NULL, first);
    char *path scope(free_ptr) = xasprintf("%s/search.c", source);
    utime(path, &(struct utimbuf){1, 1});
    kit_commit(b, source, NULL, second);
    Str x scope(str_release), y scope(str_release);
    make(a, first, &x);
    make(b, second, &y);
    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.data, y.data, x.size);
    assert_string_equal(sha256_hex(x.data, x.size, sha), known_sha);
}

// Names of the tar's entries, each with its mode, in order.
static void a_snapshot_is_sorted_and_plain_ustar(void **state) {
    (void)state;
    static const struct {
        const char *name, *mode;
        size_t size;
    } wanted[] = {{"run.sh", "000755 ", 10},
                  {"search-more.c", "000644 ", 0},
                  {"search.c", "000644 ", 7},
                  {"search/deep.c", "000644 ", 7}};
    char *data scope(kit_folder_drop) = kit_folder();
    char *source scope(free_ptr) = xasprintf("%s/source", data);
    write_source(source);
    git_repository *repo scope(repo_free) = new_repo(data);
    char commit[REPO_SHA_MAX];
    kit_commit(repo, source, NULL, commit);
    Str tar scope(str_release);
    make(repo, commit, &tar);
    const char *header = tar.data;
    for (int i = 0; i < 4; i++) {
        assert_string_equal(header, wanted[i].name);
        assert_memory_equal(header + 100, wanted[i].mode, 6);
        assert_memory_equal(header + 136, "00000000000", 11); // no time
        assert_memory_equal(header + 257, "ustar", 5);
        assert_int_equal(header[265], 0); // no owner's name
        header += 512 + (wanted[i].size + 511) / 512 * 512;
    }
    assert_int_equal(*header, 0);
}

static void a_tree_with_a_link_has_no_snapshot(void **state) {
    (void)state;
    Error err;
    char *data scope(kit_folder_drop) = kit_folder();
    git_repository *repo scope(repo_free) = new_repo(data);
    git_treebuilder *builder = NULL;
    git_oid blob, tree;
    git_blob_create_from_buffer(&blob, repo, "/etc/passwd", 11);
    git_treebuilder_new(&builder, repo, NULL);
    git_treebuilder_insert(NULL, builder, "link", &blob, GIT_FILEMODE_LINK);
    git_treebuilder_write(&tree, builder);
    git_treebuilder_free(builder);
    CommitSpec spec = {&tree, NULL, "Ada", "a@x", 0, 0, "Ada", "a@x", 0, "x\n"};
    char sha[REPO_SHA_MAX];
    assert_true(repo_commit(repo, &spec, sha, &err));
    Str tar scope(str_release);
    str_init(&tar, 1 << 20);
    assert_false(snapshot_make(repo, sha, &tar, &err));
    assert_string_equal(err.code, "snapshot_unsafe");
    assert_non_null(strstr(err.message, "link is a symbolic link"));
}

static void a_blob_is_stored_once_and_read_back(void **state) {
    (void)state;
    Error err;
    char sha[SHA256_HEX_MAX], again[SHA256_HEX_MAX];
    char *data scope(kit_folder_drop) = kit_folder();
    assert_true(blob_put(data, "abc", 3, sha, &err));
    assert_string_equal(sha, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_true(blob_put(data, "abc", 3, again, &err));
    size_t size;
    char *bytes scope(free_ptr) = blob_get(data, sha, 100, &size, &err);
    assert_non_null(bytes);
    assert_int_equal(size, 3);
    assert_null(blob_get(data, sha, 2, &size, &err));
    assert_int_equal(err.status, 413);
    sha[0] = sha[0] == 'b' ? 'c' : 'b';
    assert_null(blob_get(data, sha, 100, &size, &err));
    assert_int_equal(err.status, 404);
}

static void a_damaged_blob_is_not_handed_out_and_is_mended_by_storing_it_again(void **state) {
    (void)state;
    Error err;
    char sha[SHA256_HEX_MAX];
    char *data scope(kit_folder_drop) = kit_folder();
    assert_true(blob_put(data, "abc", 3, sha, &err));
    char *path scope(free_ptr) = blob_path(data, sha);
    assert_true(file_write_durable(path, "ab", 2, &err));
    assert_null(blob_get(data, sha, 100, NULL, &err));
    assert_string_equal(err.code, "blob_damaged");
    assert_true(blob_put(data, "abc", 3, sha, &err));
    char *bytes scope(free_ptr) = blob_get(data, sha, 100, NULL, &err);
    assert_non_null(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_snapshot_is_the_same_bytes_whenever_and_wherever_it_is_made),
        cmocka_unit_test(a_snapshot_is_sorted_and_plain_ustar),
        cmocka_unit_test(a_tree_with_a_link_has_no_snapshot),
        cmocka_unit_test(a_blob_is_stored_once_and_read_back),
        cmocka_unit_test(a_damaged_blob_is_not_handed_out_and_is_mended_by_storing_it_again),
    };
    return cmocka_run_group_tests_name("snapshot", tests, NULL, NULL);
}

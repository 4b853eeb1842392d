// Patches as people send them, one folder a case: tests/data/patches/NAME/input.patch is applied to
// NAME/base, or to the common base. Then either every file of NAME/expected is there with just that
// content and those named in NAME/gone are not, and nothing else changed; or the patch is refused
// with the words in NAME/refusal.
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "server/common/file.h"
#include "server/git/tree.h"
#include "server/patch/patch.h"
#include "tests/kit/repo_kit.h"

#define CASES "tests/data/patches"

static bool is_there(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0;
}

static char *read_text(const char *path, size_t *size) {
    Error err;
    char *text = file_read(path, 4 << 20, size, &err);
    if (!text)
        fail_msg("%s", err.message);
    return text;
}

// The tree that results, or NULL with the refusal.
static git_tree *apply(git_repository *repo, const char *name, const git_oid *base, Error *err) {
    char *path scope(free_ptr) = xasprintf(CASES "/%s/input.patch", name);
    size_t size;
    char *text scope(free_ptr) = read_text(path, &size);
    Patch patch scope(patch_release) = {0};
    if (!patch_parse(text, size, &patch, err))
        return NULL;
    git_oid tree = *base;
    for (int i = 0; i < patch.mail_count; i++)
        if (!patch_apply(repo, &patch.mails[i], &tree, &tree, err))
            return NULL;
    git_tree *result = NULL;
    assert_int_equal(git_tree_lookup(&result, repo, &tree), 0);
    return result;
}

typedef struct Visit {
    git_repository *repo;
    const char *folder; // of expected files
    int expected;       // found in it
    git_tree *base;
} Visit;

static int visit(const char *root, const git_tree_entry *entry, void *payload) {
    Visit *v = payload;
    if (git_tree_entry_type(entry) != GIT_OBJECT_BLOB)
        return 0;
    char *path scope(free_ptr) = xasprintf("%s%s", root, git_tree_entry_name(entry));
    char *file scope(free_ptr) = xasprintf("%s/%s", v->folder, path);
    if (!is_there(file)) {
        git_tree_entry *old = NULL;
        if (git_tree_entry_bypath(&old, v->base, path) < 0 ||
            !git_oid_equal(git_tree_entry_id(old), git_tree_entry_id(entry)))
            fail_msg("%s changed, though the case does not expect it", path);
        git_tree_entry_free(old);
        return 0;
    }
    v->expected++;
    git_blob *blob = NULL;
    assert_int_equal(git_blob_lookup(&blob, v->repo, git_tree_entry_id(entry)), 0);
    size_t size;
    char *text scope(free_ptr) = read_text(file, &size);
    if ((size_t)git_blob_rawsize(blob) != size || memcmp(git_blob_rawcontent(blob), text, size))
        fail_msg("%s is not as expected:\n%.*s", path, (int)git_blob_rawsize(blob),
                 (const char *)git_blob_rawcontent(blob));
    git_blob_free(blob);
    return 0;
}

static int count_files(const char *folder) {
    DIR *dir = opendir(folder);
    int count = 0;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (e->d_name[0] == '.')
            continue;
        char *path scope(free_ptr) = xasprintf("%s/%s", folder, e->d_name);
        count += e->d_type == DT_DIR ? count_files(path) : 1;
    }
    if (dir)
        closedir(dir);
    return count;
}

static void check_gone(git_tree *tree, const char *name) {
    char *path scope(free_ptr) = xasprintf(CASES "/%s/gone", name);
    if (!is_there(path))
        return;
    size_t size;
    char *text scope(free_ptr) = read_text(path, &size);
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        git_tree_entry *entry = NULL;
        if (git_tree_entry_bypath(&entry, tree, line) == 0)
            fail_msg("%s is still there", line);
    }
}

static void check_result(git_repository *repo, const char *name, git_tree *tree,
                         const git_oid *base) {
    char *folder scope(free_ptr) = xasprintf(CASES "/%s/expected", name);
    Visit v = {.repo = repo, .folder = folder};
    assert_int_equal(git_tree_lookup(&v.base, repo, base), 0);
    git_tree_walk(tree, GIT_TREEWALK_PRE, visit, &v);
    assert_int_equal(v.expected, count_files(folder));
    check_gone(tree, name);
    git_tree_free(v.base);
}

static void check_refusal(const char *name, const Error *err) {
    char *path scope(free_ptr) = xasprintf(CASES "/%s/refusal", name);
    if (!is_there(path))
        fail_msg("refused: %s", err->message);
    char *words scope(free_ptr) = read_text(path, NULL);
    words[strcspn(words, "\n")] = 0;
    if (!strstr(err->message, words))
        fail_msg("refused with other words: %s", err->message);
    assert_int_equal(err->status, 422);
    assert_string_equal(err->field, "patch");
}

static void case_holds(void **state) {
    const char *name = *state;
    char *data scope(kit_folder_drop) = kit_folder();
    Error err = {0};
    git_repository *repo scope(repo_free) = repo_create(data, "anvil", "main", &err);
    assert_non_null(repo);
    char *own scope(free_ptr) = xasprintf(CASES "/%s/base", name);
    git_oid base;
    if (!repo_tree_import(repo, is_there(own) ? own : CASES "/base", &base, &err))
        fail_msg("%s", err.message);
    git_tree *tree = apply(repo, name, &base, &err);
    if (tree)
        check_result(repo, name, tree, &base);
    else
        check_refusal(name, &err);
    char *refusal scope(free_ptr) = xasprintf(CASES "/%s/refusal", name);
    assert_int_equal(tree == NULL, is_there(refusal));
    git_tree_free(tree);
}

static int by_name(const void *a, const void *b) {
    const struct CMUnitTest *x = a, *y = b;
    return strcmp(x->name, y->name);
}

int main(void) {
    enum { CASES_MAX = 200 };
    static struct CMUnitTest tests[CASES_MAX];
    size_t count = 0;
    DIR *dir = opendir(CASES);
    if (!dir)
        return 1;
    for (struct dirent *e; (e = readdir(dir)) && count < CASES_MAX;)
        if (e->d_name[0] != '.' && strcmp(e->d_name, "base") != 0) {
            char *name = xstrdup(e->d_name);
            tests[count++] = (struct CMUnitTest){name, case_holds, NULL, NULL, name};
        }
    closedir(dir);
    qsort(tests, count, sizeof *tests, by_name);
    int failed = _cmocka_run_group_tests("patches", tests, count, NULL, NULL);
    for (size_t i = 0; i < count; i++)
        free((char *)tests[i].name);
    return failed || count < 40;
}

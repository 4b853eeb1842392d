// See reapply.h.
#include "server/submit/reapply.h"

#include <string.h>

#include "server/common/str.h"
#include "server/git/memory_store.h"
#include "server/git/repo.h"
#include "server/submit/untested.h"

static void index_free(git_index **index) {
    git_index_free(*index);
}

static bool refuse_conflict(Db *db, git_repository *repo, const SqlTestForChange *test,
                            git_index *index, Error *err) {
    git_index_conflict_iterator *iterator = NULL;
    const git_index_entry *entries[3] = {0};
    const char *path = "";
    if (git_index_conflict_iterator_new(&iterator, index) == 0 &&
        git_index_conflict_next(&entries[0], &entries[1], &entries[2], iterator) == 0)
        for (int i = 0; i < 3 && !*path; i++)
            path = entries[i] ? entries[i]->path : "";
    int64_t other = untested_toucher(db, repo, test, path);
    char *by scope(free_ptr) =
        other ? xasprintf("by this test and by test %lld", (long long)other) : xstrdup("by both");
    error_set(err, 409, "merge_conflict",
              "the baseline has moved on since this test, and the patch no longer fits: %.200s was "
              "changed %s. Rebase the patch onto the new baseline and submit it again",
              path, by);
    git_index_conflict_iterator_free(iterator);
    return false;
}

static bool is_new(git_repository *repo, git_tree *baseline, git_index *index, Error *err) {
    git_diff *diff = NULL;
    if (git_diff_tree_to_index(&diff, repo, baseline, index, NULL) < 0)
        return repo_error(err, 500, "git", "the trees cannot be compared");
    bool differs = git_diff_num_deltas(diff) > 0;
    git_diff_free(diff);
    return differs || error_set(err, 409, "merged", "the baseline holds this change already");
}

// Fills *index with the files of the merged tree.
static bool merge(Db *db, git_repository *repo, const SqlTestForChange *test, git_index **index,
                  Error *err) {
    git_tree *base scope(repo_tree_free) = NULL;
    git_tree *baseline scope(repo_tree_free) = NULL;
    git_tree *patched scope(repo_tree_free) = NULL;
    git_merge_options options;
    git_merge_options_init(&options, GIT_MERGE_OPTIONS_VERSION);
    if (!repo_commit_tree(repo, test->base_commit, &base, err) ||
        !repo_commit_tree(repo, test->baseline, &baseline, err) ||
        !repo_commit_tree(repo, test->new_commit, &patched, err))
        return false;
    if (git_merge_trees(index, repo, base, baseline, patched, &options) < 0)
        return repo_error(err, 409, "merge_conflict", "the patch cannot be applied again");
    return git_index_has_conflicts(*index) ? refuse_conflict(db, repo, test, *index, err)
                                           : is_new(repo, baseline, *index, err);
}

// A commit that was named at submission may stand beside the baseline, although the baseline was
// its base.
bool reapply_is_needed(git_repository *repo, const SqlTestForChange *test) {
    const char *baseline = test->baseline;
    return strcmp(test->base_commit, baseline) != 0 ||
           !repo_is_ancestor(repo, baseline, test->new_commit);
}

// A merge of files writes them as objects: here into memory.
bool reapply_in_memory(git_repository *repo, Error *err) {
    enum { BYTES_MAX = 64 << 20 };
    git_odb *odb = NULL;
    bool good = git_repository_odb(&odb, repo) == 0 && memory_store_add(odb, BYTES_MAX);
    git_odb_free(odb);
    return good || repo_error(err, 500, "git", "no objects can be kept in memory");
}

bool reapply_fits(Db *db, git_repository *repo, const SqlTestForChange *test, Error *err) {
    git_index *index scope(index_free) = NULL;
    return reapply_in_memory(repo, err) && merge(db, repo, test, &index, err);
}

bool reapply_tree(Db *db, git_repository *repo, const SqlTestForChange *test, git_oid *out,
                  Error *err) {
    git_index *index scope(index_free) = NULL;
    return merge(db, repo, test, &index, err) &&
           (git_index_write_tree_to(out, index, repo) == 0 ||
            repo_error(err, 500, "git", "the tree cannot be written"));
}

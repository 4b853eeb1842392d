// See untested.h.
#include "server/submit/untested.h"

#include <stdio.h>
#include <string.h>

#include "server/common/str.h"
#include "server/git/repo.h"
#include "sql/merges.h"

// The first parents from the baseline back to the base.
enum { WALK_MAX = 1000 };

typedef struct Walk {
    char commits[WALK_MAX][REPO_SHA_MAX]; // newest first
    int count;
} Walk;

static bool first_parent(git_repository *repo, const char *sha, char parent[REPO_SHA_MAX]) {
    git_oid oid;
    git_commit *commit = NULL;
    if (git_oid_fromstr(&oid, sha) < 0 || git_commit_lookup(&commit, repo, &oid) < 0)
        return false;
    const git_oid *id = git_commit_parent_id(commit, 0);
    if (id)
        git_oid_tostr(parent, REPO_SHA_MAX, id);
    git_commit_free(commit);
    return id;
}

// False: the base is not among the first `most` ancestors.
static bool walk_back(git_repository *repo, const SqlTestForChange *test, int most, Walk *walk) {
    char at[REPO_SHA_MAX];
    snprintf(at, sizeof at, "%s", test->baseline);
    for (walk->count = 0; strcmp(at, test->base_commit) != 0;) {
        if (walk->count == most || walk->count == WALK_MAX)
            return false;
        memcpy(walk->commits[walk->count++], at, sizeof at);
        if (!first_parent(repo, walk->commits[walk->count - 1], at))
            return false;
    }
    return true;
}

static int64_t test_of(Db *db, const SqlTestForChange *test, const char *commit) {
    return sql_merge_test_of_commit(db, 0, .engine = test->engine_id, .commit = commit);
}

json_t *untested_since(Db *db, git_repository *repo, const SqlTestForChange *test, int most) {
    Walk *walk scope(free_ptr) = xmalloc(sizeof *walk);
    if (!walk_back(repo, test, most, walk))
        return NULL;
    json_t *out = json_array();
    for (int i = walk->count - 1; i >= 0; i--) {
        CommitInfo info scope(repo_commit_info_release) = {0};
        Error ignored;
        int64_t made = test_of(db, test, walk->commits[i]);
        bool known = repo_commit_info(repo, walk->commits[i], &info, &ignored);
        json_array_append_new(out, json_pack("{s:s, s:s, s:o}", "commit", walk->commits[i],
                                             "subject", known ? info.subject : "", "test",
                                             made ? json_integer(made) : json_null()));
    }
    return out;
}

// ---- files --------------------------------------------------------------------------------------

static git_diff *diff_of(git_repository *repo, const char *from, const char *to) {
    git_tree *old scope(repo_tree_free) = NULL, *new scope(repo_tree_free) = NULL;
    git_diff *diff = NULL;
    Error ignored;
    if (!repo_commit_tree(repo, from, &old, &ignored) ||
        !repo_commit_tree(repo, to, &new, &ignored) ||
        git_diff_tree_to_tree(&diff, repo, old, new, NULL) < 0)
        return NULL;
    return diff;
}

static bool has_path(const git_diff *diff, const char *path) {
    for (size_t i = 0; i < git_diff_num_deltas(diff); i++) {
        const git_diff_delta *delta = git_diff_get_delta(diff, i);
        if (strcmp(delta->old_file.path, path) == 0 || strcmp(delta->new_file.path, path) == 0)
            return true;
    }
    return false;
}

static bool touches(git_repository *repo, const char *commit, const char *path) {
    char parent[REPO_SHA_MAX];
    git_diff *diff = first_parent(repo, commit, parent) ? diff_of(repo, parent, commit) : NULL;
    bool found = diff && has_path(diff, path);
    git_diff_free(diff);
    return found;
}

int64_t untested_toucher(Db *db, git_repository *repo, const SqlTestForChange *test,
                         const char *path) {
    Walk *walk scope(free_ptr) = xmalloc(sizeof *walk);
    walk_back(repo, test, WALK_MAX, walk);
    for (int i = 0; i < walk->count; i++)
        if (touches(repo, walk->commits[i], path))
            return test_of(db, test, walk->commits[i]);
    return 0;
}

// A file of the change that the commits since its base touched as well; NULL: none. Files that were
// changed and changed back are touched, too, so each commit is looked at. New.
static char *shared_file(git_repository *repo, const Walk *walk, const git_diff *change) {
    for (size_t i = 0; i < git_diff_num_deltas(change); i++) {
        const char *path = git_diff_get_delta(change, i)->new_file.path;
        for (int j = 0; j < walk->count; j++)
            if (touches(repo, walk->commits[j], path))
                return xstrdup(path);
    }
    return NULL;
}

static bool refuse_file(Db *db, git_repository *repo, const SqlTestForChange *test,
                        const char *path, char why[UNTESTED_WHY_MAX]) {
    int64_t other = untested_toucher(db, repo, test, path);
    if (other)
        snprintf(why, UNTESTED_WHY_MAX, "%.200s was changed by test %lld, too", path,
                 (long long)other);
    else
        snprintf(why, UNTESTED_WHY_MAX, "%.200s was changed since its base, too", path);
    return false;
}

bool untested_fits(Db *db, git_repository *repo, const SqlTestForChange *test, int most,
                   char why[UNTESTED_WHY_MAX]) {
    Walk *walk scope(free_ptr) = xmalloc(sizeof *walk);
    if (!walk_back(repo, test, most, walk)) {
        snprintf(why, UNTESTED_WHY_MAX,
                 most ? "more than %d commits were merged since its base"
                      : "the policy of the engine merges nothing without a test (%d commits)",
                 most);
        return false;
    }
    git_diff *change = diff_of(repo, test->base_commit, test->new_commit);
    if (!change) {
        snprintf(why, UNTESTED_WHY_MAX, "its diff cannot be made");
        return false;
    }
    char *path scope(free_ptr) = shared_file(repo, walk, change);
    git_diff_free(change);
    *why = 0;
    return !path || refuse_file(db, repo, test, path, why);
}

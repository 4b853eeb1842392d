// An engine's repository, DATA/git/ENGINE.git, through libgit2: bare, never packed or pruned by us,
// synced to disk with every write. It knows commits, trees and references; what a patch is, what a
// snapshot is and who may do what are not its business.
//
// A handle belongs to one thread; opening one is cheap. Commits are named by 40 lower-case hex
// digits, `char sha[REPO_SHA_MAX]`.
#pragma once

#include <git2.h>
#include <stdint.h>

#include "server/common/error.h"

enum { REPO_SHA_MAX = 41 };

// NULL when there is no such repository. Engine names are made of letters, digits, '-' and '_'.
git_repository *repo_open(const char *data, const char *engine, Error *err);
// A new empty one whose HEAD names `branch`.
git_repository *repo_create(const char *data, const char *engine, const char *branch, Error *err);
void repo_free(git_repository **repo); // for scope()
char *repo_path(const char *data, const char *engine);
bool repo_name_is_valid(const char *engine);

// A branch, a tag or a commit (7 to 40 hex digits) as full commit; 422 says what was tried. Nothing
// else of git's revision syntax: what users name should be visible to everyone who clones.
bool repo_resolve(git_repository *repo, const char *what, char sha[REPO_SHA_MAX], Error *err);
// Whether `sha` is `tip` or one of its ancestors.
bool repo_is_ancestor(git_repository *repo, const char *sha, const char *tip);
// The nearest commit that both descend from; false where there is none.
bool repo_common_ancestor(git_repository *repo, const char *a, const char *b,
                          char sha[REPO_SHA_MAX]);

typedef struct CommitInfo {
    char sha[REPO_SHA_MAX], tree[REPO_SHA_MAX];
    char *subject, *author, *message; // author is the name alone
    int64_t bench;                    // of the message, see repo_message_bench(); 0: none
} CommitInfo;
bool repo_commit_info(git_repository *repo, const char *sha, CommitInfo *info, Error *err);
void repo_commit_info_release(CommitInfo *info);
// The N of the last line that reads "Bench: N"; 0 when there is none.
int64_t repo_message_bench(const char *message);

typedef struct CommitSpec {
    const git_oid *tree;
    const char *parent; // NULL: the first commit
    const char *author, *author_email;
    double authored; // Unix seconds
    int offset_minutes;
    const char *committer, *committer_email;
    double committed;
    const char *message;
} CommitSpec;
// Creates the object only; no reference moves.
bool repo_commit(git_repository *repo, const CommitSpec *spec, char sha[REPO_SHA_MAX], Error *err);
// The same by a user of this server at the time `now`: the user is the committer, and the author as well where
// the spec names none. An author without an email address gets the user's.
bool repo_commit_as(git_repository *repo, const char *user, double now, CommitSpec spec,
                    char sha[REPO_SHA_MAX], Error *err);

// The tree of a commit, for scope(repo_tree_free). 422 `no_such_commit`.
bool repo_commit_tree(git_repository *repo, const char *sha, git_tree **tree, Error *err);
void repo_tree_free(git_tree **tree);

// "refs/tests/7", "refs/heads/main", …: points it at the commit, wherever it was before. On disk
// when it returns.
bool repo_ref_set(git_repository *repo, const char *ref, const char *sha, Error *err);
bool repo_test_ref_set(git_repository *repo, int64_t test, const char *sha, Error *err);
// Folders of objects that libgit2 made and did not sync itself. Call before a row names a commit.
bool repo_sync(git_repository *repo, Error *err);

// What libgit2 said about its last failure, as an Error.
bool repo_error(Error *err, int status, const char *code, const char *what);

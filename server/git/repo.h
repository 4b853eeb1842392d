// An engine's repository, DATA/git/ENGINE.git, through libgit2. It is bare. The server never packs
// or prunes it, and syncs every write to disk. This module knows commits, trees and references. It
// does not know patches, snapshots or rights.
//
// A handle belongs to one thread; opening one is cheap. A commit is named by 40 lower-case hex
// digits, `char sha[REPO_SHA_MAX]`.
#pragma once

#include <git2.h>
#include <stdint.h>

#include "server/common/error.h"

enum { REPO_SHA_MAX = 41 };

// NULL if there is no such repository. Engine names consist of letters, digits, '-' and '_'.
git_repository *repo_open(const char *data, const char *engine, Error *err);
// A new empty one whose HEAD names `branch`.
git_repository *repo_create(const char *data, const char *engine, const char *branch, Error *err);
void repo_free(git_repository **repo); // for scope()
char *repo_path(const char *data, const char *engine);
bool repo_name_is_valid(const char *engine);

// Turns a branch, a tag or a commit (7 to 40 hex digits) into a full commit name. 422 says what was
// tried. The rest of git's revision syntax is not supported: a name that users give should be
// visible in every clone.
bool repo_resolve(git_repository *repo, const char *what, char sha[REPO_SHA_MAX], Error *err);
// Whether `sha` is `tip` or one of its ancestors.
bool repo_is_ancestor(git_repository *repo, const char *sha, const char *tip);
// The nearest commit that is in the history of both; false if there is none.
bool repo_common_ancestor(git_repository *repo, const char *a, const char *b,
                          char sha[REPO_SHA_MAX]);

typedef struct CommitInfo {
    char sha[REPO_SHA_MAX], tree[REPO_SHA_MAX];
    char *subject, *author, *message; // author is the name alone
    int64_t bench;                    // from the message, see repo_message_bench(); 0: none
} CommitInfo;
bool repo_commit_info(git_repository *repo, const char *sha, CommitInfo *info, Error *err);
void repo_commit_info_release(CommitInfo *info);
// The N of the last line that reads "Bench: N"; 0 if there is none.
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
// The same for a user of this server at the time `now`. The user is the committer, and also the
// author if the spec has no author. An author without an email address gets the user's.
bool repo_commit_as(git_repository *repo, const char *user, double now, CommitSpec spec,
                    char sha[REPO_SHA_MAX], Error *err);

// The tree of a commit, for scope(repo_tree_free). 422 `no_such_commit`.
bool repo_commit_tree(git_repository *repo, const char *sha, git_tree **tree, Error *err);
void repo_tree_free(git_tree **tree);

// Sets "refs/tests/7", "refs/heads/main", … to the commit, whatever it was before. It is on disk
// when this returns.
bool repo_ref_set(git_repository *repo, const char *ref, const char *sha, Error *err);
bool repo_test_ref_set(git_repository *repo, int64_t test, const char *sha, Error *err);
// Syncs the folders of objects that libgit2 made and did not sync itself. Call this before a row
// names a commit.
bool repo_sync(git_repository *repo, Error *err);

// libgit2's last failure as an Error. Returns false.
bool repo_error(Error *err, int status, const char *code, const char *what);

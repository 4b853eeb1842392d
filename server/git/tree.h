// Between folders on disk and trees in an engine's repository.
#pragma once

#include "server/git/repo.h"

enum { REPO_FILE_BYTES_MAX = 32 << 20, REPO_FILES_MAX = 20000 };

// The tree of what a source folder holds: plain files only, with what a build leaves behind left
// out (obj/, build/, *.o, *.a, *.d, ELF programs), as well as .git, links, and what the folder's
// own .gitignore names. 422 when that is nothing.
bool repo_tree_import(git_repository *repo, const char *folder, git_oid *tree, Error *err);

// Writes the files of a commit into a folder that is new or empty.
bool repo_tree_export(git_repository *repo, const char *commit, const char *folder, Error *err);

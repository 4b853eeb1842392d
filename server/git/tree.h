// Between folders on disk and trees in an engine's repository.
#pragma once

#include "server/git/repo.h"

enum { REPO_FILE_BYTES_MAX = 32 << 20, REPO_FILES_MAX = 20000 };

// The tree of a source folder. Only plain files are taken. Left out are the products of a build
// (obj/, build/, *.o, *.a, *.d, ELF programs), .git, links, and the files that the folder's own
// .gitignore names. 422 if no file remains.
bool repo_tree_import(git_repository *repo, const char *folder, git_oid *tree, Error *err);

// Writes the files of a commit into a new or empty folder.
bool repo_tree_export(git_repository *repo, const char *commit, const char *folder, Error *err);

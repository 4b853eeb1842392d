// For tests of modules that use git: a data folder with the repository of one engine.
#pragma once

#include "server/git/repo.h"

// A new folder under $TMPDIR (or /tmp), malloc'ed; kit_folder_drop removes it and what is in it.
char *kit_folder(void);
void kit_folder_drop(char **folder); // for scope()
// Commits the contents of `source` to the repository; the parent is `parent` or NULL.
void kit_commit(git_repository *repo, const char *source, const char *parent,
                char sha[REPO_SHA_MAX]);
void kit_write(const char *folder, const char *name, const char *text);

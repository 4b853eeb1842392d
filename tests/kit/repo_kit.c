// See repo_kit.h.
#include "tests/kit/repo_kit.h"

#include <stdlib.h>
#include <string.h>

#include "server/common/file.h"
#include "server/common/log.h"
#include "server/common/str.h"
#include "server/git/tree.h"

char *kit_folder(void) {
    const char *top = getenv("TMPDIR");
    char *path = xasprintf("%s/patchmate.XXXXXX", top ? top : "/tmp");
    if (!mkdtemp(path))
        fatal("no temporary folder %s", path);
    return path;
}

void kit_folder_drop(char **folder) {
    Error err;
    if (*folder && !folder_remove(*folder, &err))
        log_warn("%s", err.message);
    free(*folder);
}

void kit_commit(git_repository *repo, const char *source, const char *parent,
                char sha[REPO_SHA_MAX]) {
    Error err;
    git_oid tree;
    CommitSpec spec = {.tree = &tree,
                       .parent = parent,
                       .author = "Ada",
                       .author_email = "ada@example.org",
                       .committer = "Ada",
                       .committer_email = "ada@example.org",
                       .message = "A commit\n"};
    if (!repo_tree_import(repo, source, &tree, &err) || !repo_commit(repo, &spec, sha, &err))
        fatal("%s", err.message);
}

void kit_write(const char *folder, const char *name, const char *text) {
    Error err;
    char *path scope(free_ptr) = xasprintf("%s/%s", folder, name);
    char *parent scope(free_ptr) = xstrdup(path);
    *strrchr(parent, '/') = 0;
    if (!folder_make(parent, &err) || !file_write_durable(path, text, strlen(text), &err))
        fatal("%s", err.message);
}

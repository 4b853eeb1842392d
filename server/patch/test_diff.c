// The diff of a test has two parts: the patch against its base, and the base against the baseline
// if the base is not in the baseline's history. Together they are all code that volunteers build
// and that the engine's maintainers have not merged. See patch.h.
#include <stdio.h>

#include "server/git/repo.h"
#include "server/patch/patch.h"

// The base is compared with the nearest commit that is also in the baseline's history. Code that
// was merged into the baseline since that commit is not part of what the base adds.
static json_t *base_document(git_repository *repo, const char *base, const char *baseline,
                             DiffLimits limits, Error *err) {
    char from[REPO_SHA_MAX];
    if (repo_is_ancestor(repo, base, baseline))
        return json_null();
    if (!repo_common_ancestor(repo, base, baseline, from))
        snprintf(from, sizeof from, "%s", baseline);
    json_t *document = patch_document(repo, from, base, limits, err);
    if (document)
        json_object_set_new(document, "from", json_string(from));
    return document;
}

json_t *patch_test_document(git_repository *repo, const DiffCommits *commits, DiffLimits limits,
                            Error *err) {
    json_auto_t *document = patch_document(repo, commits->base, commits->patch, limits, err);
    json_t *below =
        document ? base_document(repo, commits->base, commits->baseline, limits, err) : NULL;
    if (!below)
        return NULL;
    json_object_set_new(document, "base_diff", below);
    return json_incref(document);
}

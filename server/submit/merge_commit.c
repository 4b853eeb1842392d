// See merge_commit.h.
#include "server/submit/merge_commit.h"

#include <string.h>

#include "server/common/str.h"

enum { MESSAGE_MAX = 1 << 20 };

// The count that a message states belongs to another tree.
static void add_without_bench(Str *out, const char *message) {
    for (const char *line = message; *line;) {
        size_t n = strcspn(line, "\n");
        char *text scope(free_ptr) = xstrndup(line, n);
        if (!repo_message_bench(text))
            str_printf(out, "%s\n", text);
        line += n + (line[n] == '\n');
    }
    while (out->size > 1 && out->data[out->size - 2] == '\n')
        out->data[--out->size] = 0;
}

static char *message_with(const char *message, int64_t bench) {
    Str out;
    str_init(&out, MESSAGE_MAX);
    add_without_bench(&out, message);
    if (bench)
        str_printf(&out, "\nBench: %lld\n", (long long)bench);
    return str_steal(&out);
}

static void commit_free(git_commit **commit) {
    git_commit_free(*commit);
}

static bool find(git_repository *repo, const char *sha, git_commit **out, Error *err) {
    git_oid oid;
    return (git_oid_fromstr(&oid, sha) == 0 && git_commit_lookup(out, repo, &oid) == 0) ||
           repo_error(err, 500, "git", "a commit of the merge cannot be read");
}

bool merge_commit_make(const Caller *caller, git_repository *repo, const char *tested,
                       const git_oid *tree, const char *parent, int64_t bench,
                       char sha[REPO_SHA_MAX], Error *err) {
    git_commit *commit scope(commit_free) = NULL;
    if (!find(repo, tested, &commit, err))
        return false;
    const git_signature *author = git_commit_author(commit);
    char *message scope(free_ptr) = message_with(git_commit_message(commit), bench);
    CommitSpec spec = {.tree = tree,
                       .parent = parent,
                       .author = author->name,
                       .author_email = author->email,
                       .authored = (double)author->when.time,
                       .offset_minutes = author->when.offset,
                       .message = message};
    return repo_commit_as(repo, caller->viewer->name, caller->turn->now, spec, sha, err);
}

bool merge_commit_again(const Caller *caller, git_repository *repo, const char *candidate,
                        const char *parent, int64_t bench, char sha[REPO_SHA_MAX], Error *err) {
    git_commit *commit scope(commit_free) = NULL;
    return find(repo, candidate, &commit, err) &&
           merge_commit_make(caller, repo, candidate, git_commit_tree_id(commit), parent, bench,
                             sha, err);
}

// See repo.h.
#include "server/git/repo.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/file.h"
#include "server/common/log.h"
#include "server/common/str.h"

// The git configuration of the machine must not change the result of a patch.
static void library_start(void) {
    if (git_libgit2_init() < 0)
        fatal("libgit2 does not start");
    git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1);
    git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
    static const git_config_level_t levels[] = {GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_GLOBAL,
                                                GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_PROGRAMDATA};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "");
}

static void library(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, library_start);
}

bool repo_error(Error *err, int status, const char *code, const char *what) {
    const git_error *e = git_error_last();
    if (!e && errno == ENOSPC) // libgit2 may report nothing about an object that it could not write
        return error_errno(err, "%s", what);
    if (e && e->klass == GIT_ERROR_OS && strstr(e->message, strerror(ENOSPC)))
        return error_set(err, 503, "disk_full", "%s: %s", what, e->message);
    return error_set(err, status, code, "%s: %s", what, e ? e->message : "unknown failure of git");
}

bool repo_name_is_valid(const char *engine) {
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    size_t n = strspn(engine, good);
    return n > 0 && n <= 40 && !engine[n] && engine[0] != '-';
}

char *repo_path(const char *data, const char *engine) {
    return xasprintf("%s/git/%s.git", data, engine);
}

void repo_free(git_repository **repo) {
    git_repository_free(*repo);
}

git_repository *repo_open(const char *data, const char *engine, Error *err) {
    library();
    if (!repo_name_is_valid(engine))
        return error_field(err, 422, "no_such_engine", "engine", "there is no engine of this name"),
               NULL;
    char *path scope(free_ptr) = repo_path(data, engine);
    git_repository *repo = NULL;
    if (git_repository_open_bare(&repo, path) < 0)
        return repo_error(err, 500, "git", "the engine's repository cannot be opened"), NULL;
    return repo;
}

git_repository *repo_create(const char *data, const char *engine, const char *branch, Error *err) {
    library();
    char *path scope(free_ptr) = repo_path(data, engine);
    git_repository_init_options options;
    git_repository_init_options_init(&options, GIT_REPOSITORY_INIT_OPTIONS_VERSION);
    options.flags =
        GIT_REPOSITORY_INIT_BARE | GIT_REPOSITORY_INIT_MKPATH | GIT_REPOSITORY_INIT_NO_REINIT;
    options.initial_head = branch;
    git_repository *repo = NULL;
    if (git_repository_init_ext(&repo, path, &options) < 0)
        return repo_error(err, 500, "git", "the engine's repository cannot be made"), NULL;
    char *tests scope(free_ptr) = xasprintf("%s/refs/tests", path);
    char *refs scope(free_ptr) = xasprintf("%s/refs", path);
    char *parent scope(free_ptr) = xasprintf("%s/git", data);
    if (!folder_make(tests, err) || !folder_sync(refs, err) || !folder_sync(path, err) ||
        !folder_sync(parent, err)) {
        git_repository_free(repo);
        return NULL;
    }
    return repo;
}

// The commit of a branch or tag.
static bool resolve_name(git_repository *repo, const char *prefix, const char *name, git_oid *oid) {
    char *full scope(free_ptr) = xasprintf("%s%s", prefix, name);
    int valid = 0;
    git_reference *ref = NULL;
    if (git_reference_name_is_valid(&valid, full) < 0 || !valid ||
        git_reference_lookup(&ref, repo, full) < 0)
        return false;
    git_object *commit = NULL;
    bool found = git_reference_peel(&commit, ref, GIT_OBJECT_COMMIT) == 0;
    if (found)
        git_oid_cpy(oid, git_object_id(commit));
    git_object_free(commit);
    git_reference_free(ref);
    return found;
}

static bool resolve_hex(git_repository *repo, const char *hex, git_oid *oid) {
    git_oid prefix;
    git_commit *commit = NULL;
    size_t size = strspn(hex, "0123456789abcdef");
    if (size < 7 || size > 40 || hex[size] || git_oid_fromstrn(&prefix, hex, size) < 0 ||
        git_commit_lookup_prefix(&commit, repo, &prefix, size) < 0)
        return false;
    git_oid_cpy(oid, git_commit_id(commit));
    git_commit_free(commit);
    return true;
}

bool repo_resolve(git_repository *repo, const char *what, char sha[REPO_SHA_MAX], Error *err) {
    git_oid oid;
    if (!resolve_name(repo, "refs/heads/", what, &oid) &&
        !resolve_name(repo, "refs/tags/", what, &oid) && !resolve_hex(repo, what, &oid))
        return error_set(
            err, 422, "no_such_commit",
            "'%.100s' is not a branch, tag or commit of the engine's repository; name a "
            "branch, or a commit by 7 to 40 hex digits",
            what);
    git_oid_tostr(sha, REPO_SHA_MAX, &oid);
    return true;
}

bool repo_is_ancestor(git_repository *repo, const char *sha, const char *tip) {
    git_oid a, b;
    if (git_oid_fromstr(&a, sha) < 0 || git_oid_fromstr(&b, tip) < 0)
        return false;
    return git_oid_equal(&a, &b) || git_graph_descendant_of(repo, &b, &a) == 1;
}

bool repo_common_ancestor(git_repository *repo, const char *a, const char *b,
                          char sha[REPO_SHA_MAX]) {
    git_oid x, y, common;
    if (git_oid_fromstr(&x, a) < 0 || git_oid_fromstr(&y, b) < 0 ||
        git_merge_base(&common, repo, &x, &y) < 0)
        return false;
    git_oid_tostr(sha, REPO_SHA_MAX, &common);
    return true;
}

int64_t repo_message_bench(const char *message) {
    int64_t bench = 0;
    for (const char *line = message; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        while (*line == ' ' || *line == '\t')
            line++;
        if (strncasecmp(line, "bench", 5) != 0)
            continue;
        const char *p = line + 5 + strspn(line + 5, " \t:");
        if (p == line + 5 || *p < '1' || *p > '9')
            continue;
        char *end;
        long long n = strtoll(p, &end, 10);
        end += strspn(end, " \t\r");
        if ((!*end || *end == '\n') && n < 1000000000000000LL)
            bench = n;
    }
    return bench;
}

bool repo_commit_info(git_repository *repo, const char *sha, CommitInfo *info, Error *err) {
    git_oid oid;
    git_commit *commit = NULL;
    if (git_oid_fromstr(&oid, sha) < 0 || git_commit_lookup(&commit, repo, &oid) < 0)
        return repo_error(err, 422, "no_such_commit", "the commit cannot be read");
    const char *subject = git_commit_summary(commit), *message = git_commit_message(commit);
    git_oid_tostr(info->sha, sizeof info->sha, &oid);
    git_oid_tostr(info->tree, sizeof info->tree, git_commit_tree_id(commit));
    info->subject = xstrdup(subject ? subject : "");
    info->author = xstrdup(git_commit_author(commit)->name);
    info->message = xstrdup(message ? message : "");
    info->bench = repo_message_bench(info->message);
    git_commit_free(commit);
    return true;
}

void repo_commit_info_release(CommitInfo *info) {
    free(info->subject);
    free(info->author);
    free(info->message);
    *info = (CommitInfo){0};
}

static bool create_commit(git_repository *repo, const CommitSpec *spec, git_signature *author,
                          git_signature *committer, git_oid *oid) {
    git_tree *tree = NULL;
    git_commit *parent = NULL;
    git_oid parent_oid;
    bool ok = git_tree_lookup(&tree, repo, spec->tree) == 0;
    if (ok && spec->parent)
        ok = git_oid_fromstr(&parent_oid, spec->parent) == 0 &&
             git_commit_lookup(&parent, repo, &parent_oid) == 0;
    const git_commit *parents[] = {parent};
    ok = ok && git_commit_create(oid, repo, NULL, author, committer, NULL, spec->message, tree,
                                 spec->parent ? 1 : 0, parents) == 0;
    git_commit_free(parent);
    git_tree_free(tree);
    return ok;
}

bool repo_commit(git_repository *repo, const CommitSpec *spec, char sha[REPO_SHA_MAX], Error *err) {
    git_signature *author = NULL, *committer = NULL;
    git_oid oid;
    bool ok = git_signature_new(&author, spec->author, spec->author_email,
                                (git_time_t)spec->authored, spec->offset_minutes) == 0 &&
              git_signature_new(&committer, spec->committer, spec->committer_email,
                                (git_time_t)spec->committed, 0) == 0 &&
              create_commit(repo, spec, author, committer, &oid);
    git_signature_free(author);
    git_signature_free(committer);
    if (!ok)
        return repo_error(err, 500, "git", "the commit cannot be made");
    git_oid_tostr(sha, REPO_SHA_MAX, &oid);
    return true;
}

bool repo_commit_as(git_repository *repo, const char *user, double now, CommitSpec spec,
                    char sha[REPO_SHA_MAX], Error *err) {
    char *email scope(free_ptr) = xasprintf("%s@patchmate", user);
    spec.committer = user;
    spec.committer_email = email;
    spec.committed = now;
    if (!spec.author) {
        spec.author = user;
        spec.authored = now;
        spec.offset_minutes = 0;
    }
    if (!spec.author_email)
        spec.author_email = email;
    return repo_commit(repo, &spec, sha, err);
}

bool repo_commit_tree(git_repository *repo, const char *sha, git_tree **tree, Error *err) {
    git_oid oid;
    git_commit *commit = NULL;
    bool good = git_oid_fromstr(&oid, sha) == 0 && git_commit_lookup(&commit, repo, &oid) == 0 &&
                git_commit_tree(tree, commit) == 0;
    git_commit_free(commit);
    return good || repo_error(err, 422, "no_such_commit", "the commit cannot be read");
}

void repo_tree_free(git_tree **tree) {
    git_tree_free(*tree);
}

bool repo_ref_set(git_repository *repo, const char *ref, const char *sha, Error *err) {
    git_oid oid;
    git_reference *made = NULL;
    if (git_oid_fromstr(&oid, sha) < 0 ||
        git_reference_create(&made, repo, ref, &oid, 1, "patchmate") < 0)
        return repo_error(err, 500, "git", "the reference cannot be set");
    git_reference_free(made);
    return true;
}

bool repo_test_ref_set(git_repository *repo, int64_t test, const char *sha, Error *err) {
    char *ref scope(free_ptr) = xasprintf("refs/tests/%lld", (long long)test);
    return repo_ref_set(repo, ref, sha, err);
}

bool repo_sync(git_repository *repo, Error *err) {
    char *objects scope(free_ptr) = xasprintf("%sobjects", git_repository_path(repo));
    return folder_sync(objects, err);
}

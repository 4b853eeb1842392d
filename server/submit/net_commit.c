// See net_commit.h.
#include "server/submit/net_commit.h"

#include <stdlib.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/storage/blob.h"
#include "sql/nets.h"

typedef struct NetMerge {
    git_repository *repo;
    int64_t test;
    NetRule rule;
    const char *commit, *sha, *old_sha; // the tested commit, its net, its base's: "" for none
    const char *path;
    int64_t bench; // 0: not known
} NetMerge;

static bool has_file(const git_tree *tree, const char *path) {
    git_tree_entry *entry = NULL;
    bool there = git_tree_entry_bypath(&entry, tree, path) == 0;
    git_tree_entry_free(entry);
    return there;
}

// The commit's tree with the net at its path, in place of the one that it follows.
static bool make_tree(const NetMerge *m, const char *bytes, size_t size, git_oid *out, Error *err) {
    git_tree *tree scope(repo_tree_free) = NULL;
    char old_path[NET_PATH_MAX];
    git_tree_update updates[2] = {
        {.action = GIT_TREE_UPDATE_UPSERT, .filemode = GIT_FILEMODE_BLOB, .path = m->path}};
    if (!repo_commit_tree(m->repo, m->commit, &tree, err))
        return false;
    if (git_blob_create_from_buffer(&updates[0].id, m->repo, bytes, size) < 0)
        return repo_error(err, 500, "git", "the net cannot be put into the repository");
    size_t count = 1;
    if (*m->old_sha && has_file(tree, net_place(&m->rule, m->old_sha, old_path)))
        updates[count++] = (git_tree_update){
            .action = GIT_TREE_UPDATE_REMOVE, .filemode = GIT_FILEMODE_BLOB, .path = old_path};
    return git_tree_create_updated(out, m->repo, tree, count, updates) == 0 ||
           repo_error(err, 500, "git", "the net cannot be put into the tree");
}

static char *make_message(const NetMerge *m) {
    Str text;
    str_init(&text, 1000);
    str_printf(&text,
               "Add net %.12s\n\nThe commit before names it; it was placed beside that one "
               "for test %lld.\n",
               m->sha, (long long)m->test);
    if (m->bench)
        str_printf(&text, "\nBench: %lld\n", (long long)m->bench);
    return str_steal(&text);
}

// The two sides of a test.
typedef struct Sides {
    SqlCommitBySha tested, base;
} Sides;

static void sides_release(Sides *sides) {
    sql_row_free(&sides->tested);
    sql_row_free(&sides->base);
}

// Finds the commits. False: the tested commit needs no net that its tree lacks, or the same net as
// the base.
static bool brings_net(Db *db, const SqlTestForChange *test, Sides *out) {
    return sql_commit_by_sha(db, &out->tested, .engine = test->engine_id,
                             .sha = test->new_commit) &&
           sql_commit_by_sha(db, &out->base, .engine = test->engine_id, .sha = test->base_commit) &&
           *out->tested.net_path && strcmp(out->tested.net, out->base.net) != 0;
}

int64_t net_to_merge(Db *db, const SqlTestForChange *test) {
    scope(sides_release) Sides sides = {0};
    return brings_net(db, test, &sides)
               ? sql_net_size(db, 0, .engine = test->engine_id, .sha256 = sides.tested.net)
               : 0;
}

bool net_commit_make(const Caller *caller, git_repository *repo, const SqlTestForChange *test,
                     CommitRecord *out, Error *err) {
    Db *db = caller->turn->db;
    scope(sides_release) Sides sides = {0};
    SqlEngineById engine scope(sql_row_free) = {0};
    *out = (CommitRecord){0};
    if (!brings_net(db, test, &sides))
        return true;
    if (!sql_engine_by_id(db, &engine, test->engine_id))
        return error_set(err, 500, "internal", "the test has no engine");
    NetMerge m = {.repo = repo,
                  .test = test->id,
                  .rule = net_rule_of(&engine),
                  .commit = test->new_commit,
                  .sha = sides.tested.net,
                  .old_sha = sides.base.net,
                  .path = sides.tested.net_path,
                  .bench = sides.tested.bench};
    size_t size;
    git_oid tree;
    char sha[REPO_SHA_MAX];
    char *bytes scope(free_ptr) = blob_get(caller->data, m.sha, NET_MERGE_MAX, &size, err);
    char *message scope(free_ptr) = make_message(&m);
    CommitSpec spec = {.tree = &tree, .parent = m.commit, .message = message};
    return bytes && make_tree(&m, bytes, size, &tree, err) &&
           repo_commit_as(repo, caller->viewer->name, caller->turn->now, spec, sha, err) &&
           commit_prepare(repo, NULL, sha, &m.rule, out, err);
}

// The net of a submission: the file that may come with its form, nets that are missing yet, and the
// commit that puts a net into the tree when its test is merged.
#include <stdlib.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/storage/blob.h"
#include "server/submit/submit.h"

bool submit_take_net(Request *req, Submission *s, Error *err) {
    size_t size = 0;
    const char *wanted = s->new_record.net.sha;
    if (request_is_api(req) || !request_form(req, "net", &size) || !size)
        return true;
    if (!*wanted)
        return error_field(err, 422, "wrong_net", "net",
                           "net: a file came, but the change names no net: put the file's SHA-256 "
                           "into the file %s of the engine's source",
                           member_text(s->engine, "net_file"));
    return net_upload_read(req, wanted, &s->net, err);
}

json_t *submit_missing_nets(Db *db, int64_t test) {
    json_t *nets = json_array();
    for (Query q = query(db, SQL_NET_MISSING, "i", test); query_step(&q);)
        json_array_append_new(nets, json_pack("{s:s}", "sha256", query_text(&q, 0)));
    return nets;
}

// ---- merging ------------------------------------------------------------------------------------

typedef struct NetMerge {
    git_repository *repo;
    int64_t test;
    NetRule rule;
    const char *commit, *sha, *old_sha; // the tested commit, its net, its base's: "" for none
    const char *path;
    int64_t bench; // 0: not known
} NetMerge;

static void free_tree(git_tree **tree) {
    git_tree_free(*tree);
}

static bool has_file(const git_tree *tree, const char *path) {
    git_tree_entry *entry = NULL;
    bool there = git_tree_entry_bypath(&entry, tree, path) == 0;
    git_tree_entry_free(entry);
    return there;
}

// The commit's tree with the net at its path, in place of the one that it follows.
static bool make_tree(const NetMerge *m, const char *bytes, size_t size, git_oid *out, Error *err) {
    git_oid oid;
    git_commit *commit = NULL;
    git_tree *tree scope(free_tree) = NULL;
    char old_path[NET_PATH_MAX];
    git_tree_update updates[2] = {
        {.action = GIT_TREE_UPDATE_UPSERT, .filemode = GIT_FILEMODE_BLOB, .path = m->path}};
    bool good = git_oid_fromstr(&oid, m->commit) == 0 &&
                git_commit_lookup(&commit, m->repo, &oid) == 0 &&
                git_commit_tree(&tree, commit) == 0 &&
                git_blob_create_from_buffer(&updates[0].id, m->repo, bytes, size) == 0;
    git_commit_free(commit);
    if (!good)
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
               "Add net %.12s\n\nThe commit before names it; it was laid down beside that one "
               "for test %lld.\n",
               m->sha, (long long)m->test);
    if (m->bench)
        str_printf(&text, "\nBench: %lld\n", (long long)m->bench);
    return str_steal(&text);
}

static bool make_commit(Request *req, const NetMerge *m, const git_oid *tree,
                        char sha[REPO_SHA_MAX], Error *err) {
    char *email scope(free_ptr) = xasprintf("%s@patchmate", req->viewer.name);
    char *message scope(free_ptr) = make_message(m);
    CommitSpec spec = {.tree = tree,
                       .parent = m->commit,
                       .author = req->viewer.name,
                       .author_email = email,
                       .authored = req->turn->now,
                       .committer = req->viewer.name,
                       .committer_email = email,
                       .committed = req->turn->now,
                       .message = message};
    return repo_commit(m->repo, &spec, sha, err);
}

static bool check_size(Request *req, int64_t engine, const NetMerge *m, Error *err) {
    json_auto_t *net = db_row(req->turn->db, SQL_NET_BY_SHA, "is", engine, m->sha);
    int64_t size = member_int(net, "size");
    return size <= NET_MERGE_MAX ||
           error_set(err, 409, "net_too_large",
                     "the net %.12s has %.1f MiB, and a merge puts it into the repository, which "
                     "takes nets of at most %d MiB; upload it in a smaller form and test that",
                     m->sha, (double)size / (1 << 20), NET_MERGE_MAX >> 20);
}

bool submit_net_commit(Request *req, git_repository *repo, const json_t *test, CommitRecord *out,
                       Error *err) {
    int64_t engine_id = member_int(test, "engine_id");
    json_auto_t *engine = db_row(req->turn->db, SQL_ENGINE_BY_ID, "i", engine_id);
    json_auto_t *new =
        db_row(req->turn->db, SQL_COMMIT_BY_SHA, "is", engine_id, member_text(test, "new_commit"));
    json_auto_t *base =
        db_row(req->turn->db, SQL_COMMIT_BY_SHA, "is", engine_id, member_text(test, "base_commit"));
    const json_t *file = json_array_get(json_object_get(new, "files"), 0);
    NetMerge m = {.repo = repo,
                  .test = member_int(test, "id"),
                  .rule = net_rule_of(engine),
                  .commit = member_text(test, "new_commit"),
                  .sha = member_text(new, "net"),
                  .old_sha = member_text(base, "net"),
                  .path = member_text(file, "path"),
                  .bench = member_int(new, "bench")};
    *out = (CommitRecord){0};
    if (!file || strcmp(m.sha, m.old_sha) == 0)
        return true;
    size_t size;
    git_oid tree;
    char sha[REPO_SHA_MAX];
    if (!check_size(req, engine_id, &m, err))
        return false;
    char *bytes scope(free_ptr) = blob_get(req->site->data, m.sha, NET_MERGE_MAX, &size, err);
    return bytes && make_tree(&m, bytes, size, &tree, err) &&
           make_commit(req, &m, &tree, sha, err) &&
           commit_prepare(repo, req->site->data, NULL, sha, &m.rule, out, err);
}

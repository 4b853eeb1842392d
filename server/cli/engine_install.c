// See engine_install.h.
#include "server/cli/engine_install.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/common/file.h"
#include "server/common/installed.h"
#include "server/common/str.h"
#include "server/git/commit_record.h"
#include "server/git/tree.h"
#include "sql/git.h"

static const char engine_name[] = "anvil";
// Paths are relative to the top of the repository, which holds the contents of engine/.
static const char engine_build[] =
    "{\"directory\": \".\", \"command\": \"make EXE=anvil\", \"binary\": \"anvil\", \"env\": {}, "
    "\"bench_args\": [\"bench\"]}";
// What a worker measured in its sandbox with both cores busy: the median of nine tasks.
static const double REFERENCE_SPEED = 1.16e6;
static const char reference_machine[] = "AMD EPYC (2 cores)";

static const struct {
    const char *name, *fields;
} presets[] = {
    {"STC", "{\"workload\": \"sprt\", \"tc\": \"10+0.1\", \"threads\": \"1\", \"model\": "
            "\"normalized\", \"elo0\": \"0\", \"elo1\": \"2\", \"new_options\": \"Hash=16\", "
            "\"base_options\": \"Hash=16\"}"},
    {"LTC", "{\"workload\": \"sprt\", \"tc\": \"60+0.6\", \"threads\": \"1\", \"model\": "
            "\"normalized\", \"elo0\": \"0.5\", \"elo1\": \"2.5\", \"new_options\": \"Hash=64\", "
            "\"base_options\": \"Hash=64\"}"},
    {"Non-regression",
     "{\"workload\": \"sprt\", \"tc\": \"10+0.1\", \"threads\": \"1\", \"model\": "
     "\"normalized\", \"elo0\": \"-1.75\", \"elo1\": \"0.25\", \"new_options\": "
     "\"Hash=16\", \"base_options\": \"Hash=16\"}"},
    {"Quick", "{\"workload\": \"sprt\", \"tc\": \"1+0.01\", \"threads\": \"1\", \"model\": "
              "\"logistic\", \"elo0\": \"0\", \"elo1\": \"10\", \"new_options\": \"Hash=16\", "
              "\"base_options\": \"Hash=16\"}"},
    {"Fixed games", "{\"workload\": \"fixed\", \"tc\": \"10+0.1\", \"threads\": \"1\", \"games\": "
                    "\"20000\", \"new_options\": \"Hash=16\", \"base_options\": \"Hash=16\"}"},
};

static bool add_presets(Db *db, int64_t engine, Error *err) {
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
        if (!sql_preset_add(db, err, .engine = engine, .position = (int64_t)i,
                            .name = presets[i].name, .fields = presets[i].fields))
            return false;
    return true;
}

static bool first_commit(git_repository *repo, const char *source, double now,
                         char sha[REPO_SHA_MAX], Error *err) {
    git_oid tree;
    CommitSpec spec = {.tree = &tree,
                       .author = "Patchmate",
                       .author_email = "noreply@patchmate",
                       .authored = now,
                       .committer = "Patchmate",
                       .committer_email = "noreply@patchmate",
                       .committed = now,
                       .message = "Anvil, as it came with Patchmate\n"};
    return repo_tree_import(repo, source, &tree, err) && repo_commit(repo, &spec, sha, err) &&
           repo_ref_set(repo, "refs/heads/main", sha, err);
}

static bool install(Db *db, git_repository *repo, const char *source, Error *err) {
    double now = (double)time(NULL);
    char sha[REPO_SHA_MAX];
    const NetRule rule = {NET_FILE_DEFAULT, NET_PATH_DEFAULT};
    CommitRecord record scope(commit_record_release) = {0};
    if (!first_commit(repo, source, now, sha, err) ||
        !commit_prepare(repo, NULL, sha, &rule, &record, err) ||
        !sql_engine_add(db, err, .name = engine_name, .title = "Anvil", .branch = "main",
                        .baseline = sha, .build = engine_build, .reference_speed = REFERENCE_SPEED,
                        .reference_machine = reference_machine, .created = now))
        return false;
    int64_t engine = db_last_id(db);
    return commit_record(db, engine, &record, now, err) && add_presets(db, engine, err);
}

// Removes a repository without a row, which an interrupted init left. Others are not touched.
static bool clear_remains(Db *db, const char *data, Error *err) {
    if (sql_engine_of_name(db, 0, engine_name))
        return error_set(err, 409, "engine_exists", "the engine %s exists already", engine_name);
    char *path scope(free_ptr) = repo_path(data, engine_name);
    return folder_remove(path, err);
}

bool engine_install(Db *db, const char *data, const char *source_dir, Error *err) {
    char *source scope(free_ptr) =
        source_dir ? xstrdup(source_dir) : installed_folder("engine", "engine");
    if (!source)
        return error_set(
            err, 404, "no_source",
            "the engine's source was not installed with this program; name its folder");
    if (!clear_remains(db, data, err))
        return false;
    git_repository *repo scope(repo_free) = repo_create(data, engine_name, "main", err);
    return repo && install(db, repo, source, err);
}

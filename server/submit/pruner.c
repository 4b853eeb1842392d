// See pruner.h.
//
// `git prune` finds the objects that no reference reaches, and then removes them. A submission may
// name such an object meanwhile, for example the commit of a test whose patch was dropped, and set
// its reference between these two steps. So no submission is in progress while git prunes. Merges
// need no such care: what they read is reached by references that stay, and what they write is
// young.
#include "server/submit/pruner.h"

#include <stdlib.h>

#include "server/common/background.h"
#include "server/common/clock.h"
#include "server/common/log.h"
#include "server/git/git_program.h"
#include "server/git/reconcile.h"
#include "server/git/repo.h"
#include "server/submit/in_progress.h"
#include "sql/git.h"

enum { LOOK_EVERY_S = 600, PRUNE_EVERY_S = 86400 };
static const double WAIT_S = 30, GIT_S = 120;

struct Pruner {
    Background *thread;
    Db *db; // the thread's own
    const char *data;
    double prune_all_after; // monotonic; objects that were young at the last time are old by then
};

// The operator may have chosen a reference commit that no branch reaches any more.
static bool git_prune(const char *path, const char *reference, Error *err) {
    Str out scope(str_release);
    str_init(&out, 1 << 16);
    char *folder scope(free_ptr) = xasprintf("--git-dir=%s", path);
    const char *const argv[] = {"git", folder,    "prune", "--expire=2.hours.ago",
                                "--",  reference, NULL};
    GitCall call = {.argv = argv, .timeout_s = GIT_S};
    return git_run(&call, &out, err);
}

static void prune(const Pruner *pruner, const SqlEngineWithDropped *engine) {
    Error err;
    char *path scope(free_ptr) = repo_path(pruner->data, engine->name);
    if (!in_progress_close(WAIT_S)) {
        log_warn("%s was not pruned, because submissions are in progress all the time", path);
        return;
    }
    if (!git_prune(path, engine->reference_commit, &err))
        log_error("%s cannot be pruned: %s", path, err.message);
    in_progress_open();
}

static void look_at(const Pruner *pruner, const SqlEngineWithDropped *engine, bool is_time) {
    Error err;
    git_repository *repo scope(repo_free) = repo_open(pruner->data, engine->name, &err);
    if (!repo) {
        log_error("the repository of %s: %s", engine->name, err.message);
        return;
    }
    int count = 0;
    if (db_begin(pruner->db, &err))
        count = refs_remove(repo, pruner->db, engine->id, REFS_DROPPED);
    db_rollback(pruner->db);
    if (count)
        log_info("the references of %d tests that ended without approval were removed from %s",
                 count, git_repository_path(repo));
    if (count || is_time)
        prune(pruner, engine);
}

static void look(void *arg) {
    Pruner *pruner = arg;
    bool is_time = time_monotonic() >= pruner->prune_all_after;
    SqlEngineWithDropped engine scope(sql_row_free) = {0};
    while (sql_engine_with_dropped(pruner->db, &engine, engine.id)) {
        if (background_is_stopping(pruner->thread))
            return;
        look_at(pruner, &engine, is_time);
    }
    if (is_time)
        pruner->prune_all_after = time_monotonic() + PRUNE_EVERY_S;
}

Pruner *pruner_start(const char *data, Error *err) {
    Pruner *pruner = xcalloc(1, sizeof *pruner);
    char *path scope(free_ptr) = xasprintf("%s/patchmate.db", data);
    pruner->data = data;
    pruner->db = db_open(path, true, err);
    if (pruner->db && background_start(&pruner->thread, look, pruner, LOOK_EVERY_S, err))
        return pruner;
    pruner_stop(pruner);
    return NULL;
}

void pruner_stop(Pruner *pruner) {
    if (!pruner)
        return;
    background_stop(pruner->thread);
    db_close(pruner->db);
    free(pruner);
}

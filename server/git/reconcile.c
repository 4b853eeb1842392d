// See reconcile.h. The database is right. A server may end after it has set a reference and before
// the COMMIT. Then there is a reference without a row. There is never a row without its reference.
#include "server/git/reconcile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/common/log.h"
#include "server/common/str.h"
#include "server/git/repo.h"

static bool ref_is(git_repository *repo, const char *ref, const char *sha) {
    git_oid want, have;
    return git_oid_fromstr(&want, sha) == 0 && git_reference_name_to_id(&have, repo, ref) == 0 &&
           git_oid_equal(&want, &have);
}

static bool ref_follow(git_repository *repo, const char *ref, const char *sha, Error *err) {
    if (ref_is(repo, ref, sha))
        return true;
    log_warn("%s%s did not point at %s; it was set", git_repository_path(repo), ref, sha);
    return repo_ref_set(repo, ref, sha, err);
}

static bool tests_follow(git_repository *repo, Db *db, int64_t engine, int64_t *last, Error *err) {
    for (Query q = query(db, SQL_TESTS_REFS, "i", engine); query_step(&q);) {
        char ref[40];
        *last = query_int(&q, COL_TESTS_REFS_ID);
        snprintf(ref, sizeof ref, "refs/tests/%lld", (long long)*last);
        if (!ref_follow(repo, ref, query_text(&q, COL_TESTS_REFS_NEW_COMMIT), err))
            return query_end(&q), false;
    }
    return !db_failed(db);
}

// Removes the references of tests that were never committed: their numbers are above the engine's
// last test.
static void drop_orphans(git_repository *repo, int64_t last) {
    git_strarray refs = {0};
    if (git_reference_list(&refs, repo) < 0)
        return;
    for (size_t i = 0; i < refs.count; i++)
        if (strncmp(refs.strings[i], "refs/tests/", 11) == 0 &&
            strtoll(refs.strings[i] + 11, NULL, 10) > last) {
            log_warn("%s%s belonged to no test; it was removed", git_repository_path(repo),
                     refs.strings[i]);
            git_reference_remove(repo, refs.strings[i]);
        }
    git_strarray_dispose(&refs);
}

static bool reconcile_engine(const char *data, Db *db, const json_t *engine, Error *err) {
    git_repository *repo scope(repo_free) =
        repo_open(data, json_string_value(json_object_get(engine, "name")), err);
    if (!repo)
        return false;
    char *ref scope(free_ptr) =
        xasprintf("refs/heads/%s", json_string_value(json_object_get(engine, "branch")));
    int64_t id = member_int(engine, "id"), last = 0;
    if (!ref_follow(repo, ref, json_string_value(json_object_get(engine, "baseline")), err) ||
        !tests_follow(repo, db, id, &last, err))
        return false;
    drop_orphans(repo, last);
    return true;
}

bool repo_reconcile(const char *data, Db *db, Error *err) {
    json_auto_t *engines = db_rows(db, SQL_ENGINE_BASELINES, "");
    size_t i;
    json_t *engine;
    json_array_foreach (engines, i, engine) {
        if (!reconcile_engine(data, db, engine, err))
            return false;
    }
    return true;
}

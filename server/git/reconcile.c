// See reconcile.h. The database is right. A server may end after it has set a reference and before
// the COMMIT. Then there is a reference without a row. There is never a row without its reference,
// unless its patch was dropped.
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

static bool has_commit(git_repository *repo, const char *sha) {
    git_oid oid;
    git_commit *commit = NULL;
    bool there = git_oid_fromstr(&oid, sha) == 0 && git_commit_lookup(&commit, repo, &oid) == 0;
    git_commit_free(commit);
    return there;
}

static bool tests_follow(git_repository *repo, Db *db, int64_t engine, Error *err) {
    for (Query q = query(db, SQL_TESTS_REFS, "i", engine); query_step(&q);) {
        char ref[40];
        const char *sha = query_text(&q, COL_TESTS_REFS_NEW_COMMIT);
        snprintf(ref, sizeof ref, "refs/tests/%lld", (long long)query_int(&q, COL_TESTS_REFS_ID));
        if (ref_is(repo, ref, sha))
            continue;
        if (!has_commit(repo, sha))
            log_error("%s%s cannot be set: the commit %s is not in the repository",
                      git_repository_path(repo), ref, sha);
        else if (!ref_follow(repo, ref, sha, err))
            return query_end(&q), false;
    }
    return !db_failed(db);
}

// Whether the reference of this test is removed. If the database cannot be read, it stays.
static bool is_to_go(Db *db, int64_t engine, const char *ref, RefsToRemove which) {
    enum { NO_TEST, KEPT, DROPPED }; // the values of the query
    static const char folder[] = "refs/tests/";
    if (strncmp(ref, folder, sizeof folder - 1) != 0)
        return false;
    int64_t test = strtoll(ref + sizeof folder - 1, NULL, 10);
    int64_t standing = db_int(db, SQL_TEST_REF_STANDING, KEPT, "ii", test, engine);
    if (standing == NO_TEST && which == REFS_NOT_KEPT)
        log_warn("%s belonged to no test; it is removed", ref);
    return standing == DROPPED || (standing == NO_TEST && which == REFS_NOT_KEPT);
}

int refs_remove(git_repository *repo, Db *db, int64_t engine, RefsToRemove which) {
    git_strarray refs = {0};
    int count = 0;
    if (git_reference_list(&refs, repo) < 0)
        return 0;
    for (size_t i = 0; i < refs.count; i++)
        if (is_to_go(db, engine, refs.strings[i], which))
            count += git_reference_remove(repo, refs.strings[i]) == 0;
    git_strarray_dispose(&refs);
    return count;
}

static bool reconcile_engine(const char *data, Db *db, const json_t *engine, Error *err) {
    git_repository *repo scope(repo_free) =
        repo_open(data, json_string_value(json_object_get(engine, "name")), err);
    if (!repo)
        return false;
    char *ref scope(free_ptr) =
        xasprintf("refs/heads/%s", json_string_value(json_object_get(engine, "branch")));
    int64_t id = member_int(engine, "id");
    if (!ref_follow(repo, ref, json_string_value(json_object_get(engine, "baseline")), err) ||
        !tests_follow(repo, db, id, err))
        return false;
    refs_remove(repo, db, id, REFS_NOT_KEPT);
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

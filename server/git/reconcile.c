// See reconcile.h. The database is right. A server may end after it has set a reference and before
// the COMMIT. Then there is a reference without a row. There is never a row without its reference,
// unless its patch was dropped.
#include "server/git/reconcile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/log.h"
#include "server/common/str.h"
#include "server/git/repo.h"
#include "sql/git.h"

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
    SqlTestsRefsRows tests scope(sql_rows_end) = sql_tests_refs(db, engine);
    while (sql_tests_refs_next(&tests)) {
        char ref[40];
        const char *sha = tests.row.new_commit;
        snprintf(ref, sizeof ref, "refs/tests/%lld", (long long)tests.row.id);
        if (ref_is(repo, ref, sha))
            continue;
        if (!has_commit(repo, sha))
            log_error("%s%s cannot be set: the commit %s is not in the repository",
                      git_repository_path(repo), ref, sha);
        else if (!ref_follow(repo, ref, sha, err))
            return false;
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
    int64_t standing = sql_test_ref_standing(db, KEPT, .test = test, .engine = engine);
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

bool repo_reconcile(const char *data, Db *db, Error *err) {
    SqlEnginesAllRows engines scope(sql_rows_end) = sql_engines_all(db);
    while (sql_engines_all_next(&engines)) {
        const SqlEnginesAll *engine = &engines.row;
        git_repository *repo scope(repo_free) = repo_open(data, engine->name, err);
        char *ref scope(free_ptr) = xasprintf("refs/heads/%s", engine->branch);
        if (!repo || !ref_follow(repo, ref, engine->baseline, err) ||
            !tests_follow(repo, db, engine->id, err))
            return false;
        refs_remove(repo, db, engine->id, REFS_NOT_KEPT);
    }
    return true;
}

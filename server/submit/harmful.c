// See harmful.h.
#include "server/submit/harmful.h"

#include <stdlib.h>
#include <string.h>

#include "server/common/str.h"
#include "server/git/repo.h"
#include "server/ledger/ledger.h"
#include "server/submit/ground.h"
#include "server/submit/rights.h"
#include "sql/ledger.h"
#include "sql/tests.h"

struct Harm {
    int64_t test;
    git_repository *repo;
    char commit[REPO_SHA_MAX];
    json_t *built_on; // ids of tests
    int64_t last;     // of the tests that were looked at
};

void harm_free(void *pointer) {
    Harm *harm = pointer;
    if (!harm)
        return;
    git_repository_free(harm->repo);
    json_decref(harm->built_on);
    free(harm);
}

// Tests after `harm->last` of which machines build the commit or what stands on it: once for each
// such side.
static void find_built_on(const Caller *caller, int64_t engine_id, Harm *harm) {
    SqlSidesOpenAfterRows sides scope(sql_rows_end) =
        sql_sides_open_after(caller->turn->db, .engine = engine_id, .after = harm->last);
    while (sql_sides_open_after_next(&sides)) {
        if (repo_is_ancestor(harm->repo, harm->commit, sides.row.sha))
            json_array_append_new(harm->built_on, json_integer(sides.row.id));
    }
    harm->last = sql_tests_last(caller->turn->db, 0);
}

static void harm_drop(Harm **harm) {
    harm_free(*harm);
}

Harm *submit_harmful_prepare(const Caller *caller, int64_t test, Error *err) {
    SqlTestForChange row scope(sql_row_free) = {0};
    if (!right_to(ACTION_HARMFUL, caller, test, &row, err))
        return NULL;
    Harm *harm scope(harm_drop) = xcalloc(1, sizeof *harm);
    harm->test = test;
    harm->built_on = json_array();
    harm->repo = repo_open(caller->data, row.engine, err);
    snprintf(harm->commit, sizeof harm->commit, "%s", row.new_commit);
    if (!harm->repo || !ground_outside_baseline(harm->repo, &row, err))
        return NULL;
    find_built_on(caller, row.engine_id, harm);
    Harm *done = harm;
    harm = NULL;
    return done;
}

static bool stop_built_on(const Caller *caller, const Harm *harm, json_t *stopped, Error *err) {
    char *why scope(free_ptr) =
        xasprintf("it is built on the commit of test %lld, which was stopped as harmful",
                  (long long)harm->test);
    json_t *id;
    size_t i;
    json_array_foreach (harm->built_on, i, id) {
        int64_t other = json_integer_value(id);
        char *state scope(free_ptr) = sql_ledger_test_state(caller->turn->db, other);
        bool finished = state && strcmp(state, "finished") == 0;
        if (finished && !ledger_reruns_end(caller->turn, other, err))
            return false;
        if (other == harm->test || !state || finished)
            continue;
        if (!ledger_test_stop(caller->turn, other, caller->viewer->user_id, why, err))
            return false;
        json_array_append(stopped, id);
    }
    return true;
}

static bool end_test(const Caller *caller, const SqlTestForChange *row, const char *reason,
                     Error *err) {
    int64_t test = row->id, user = caller->viewer->user_id;
    return sql_test_set_harmful(caller->turn->db, err, test) &&
           ledger_reruns_end(caller->turn, test, err) &&
           (strcmp(row->state, "finished") == 0 ||
            ledger_test_finish(caller->turn, test, user, "stopped", "stopped", reason, err));
}

bool submit_harmful(const Caller *caller, Harm *harm, const char *reason, json_t *stopped,
                    Error *err) {
    SqlTestForChange row scope(sql_row_free) = {0};
    if (!right_to(ACTION_HARMFUL, caller, harm->test, &row, err) ||
        !ground_outside_baseline(harm->repo, &row, err))
        return false;
    find_built_on(caller, row.engine_id, harm); // those that were submitted meanwhile
    if (!end_test(caller, &row, reason, err))
        return false;
    ledger_event(caller->turn, "harmful", caller->viewer->user_id, 0, harm->test,
                 "stopped as harmful%s%s", *reason ? ": " : "", reason);
    return stop_built_on(caller, harm, stopped, err);
}

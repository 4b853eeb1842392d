// See doc_merge.h.
#include "server/pages/doc_merge.h"

#include <string.h>

#include "server/common/str.h"
#include "server/submit/merge.h"
#include "server/submit/merge_plan.h"
#include "server/submit/policy.h"
#include "sql/merges.h"

// ---- before the click ---------------------------------------------------------------------------

static char *note_of(const SqlTestForChange *row, const MergePlan *plan) {
    if (plan->forward)
        return xasprintf("Moves %s to the commit that was tested.", row->branch);
    if (plan->trial)
        return xasprintf("The baseline has moved on since the test began, and no commit since then "
                         "touches a file of this change. Machines build the merged tree and try "
                         "it in a short match. Then %s moves. The diff from the baseline to the "
                         "merged tree has the removed and added lines of the diff below.",
                         row->branch);
    return xasprintf("The baseline has changed since the test began. This submits the patch as a "
                     "new test on it, because %s.",
                     plan->why);
}

void doc_add_merge(const Caller *caller, const SqlTestForChange *row, json_t *merge) {
    Error why;
    scope(merge_plan_release) MergePlan plan;
    bool is_planned = merge_plan(caller, row, &plan, &why);
    char *note scope(free_ptr) = is_planned ? note_of(row, &plan) : NULL;
    json_object_set_new(merge, "forward", json_boolean(plan.forward));
    json_object_set_new(merge, "trial", json_boolean(plan.trial));
    json_object_set_new(merge, "note", note ? json_string(note) : json_null());
    json_object_set_new(merge, "since", plan.since ? json_incref(plan.since) : json_array());
    json_object_set_new(merge, "missing",
                        policy_missing(caller->turn->db, row->engine_id, row->id));
    if (!merge_is_free(caller->turn->db, row->id, &why)) {
        json_object_set_new(merge, "ok", json_false());
        json_object_set_new(merge, "why", json_string(why.message));
    }
}

// ---- afterwards ---------------------------------------------------------------------------------

static char *text_of(const SqlMergeOfTest *row) {
    if (strcmp(row->state, "waiting") == 0)
        return xasprintf("%s merges this test. Merges before it: %lld.", row->user,
                         (long long)row->ahead);
    if (strcmp(row->state, "trial") == 0)
        return xasprintf("%s merges this test: test %lld tries the merged tree.", row->user,
                         (long long)row->trial_id);
    if (strcmp(row->state, "refused") == 0)
        return xasprintf("%s could not merge this test: %s.", row->user, row->reason);
    return NULL;
}

json_t *doc_merging(const DocContext *ctx, int64_t test) {
    SqlMergeOfTest row scope(sql_row_free) = {0};
    if (!sql_merge_of_test(ctx->db, &row, test))
        return json_null();
    char *text scope(free_ptr) = text_of(&row);
    return json_pack("{s:s, s:o, s:o}", "state", row.state, "trial",
                     row.trial_id ? json_integer(row.trial_id) : json_null(), "text",
                     text ? json_string(text) : json_null());
}

// Merges without a new test since the branch had a tree that was tested.
static json_t *untested(const DocContext *ctx, int64_t engine) {
    SqlMergeUntested row scope(sql_row_free) = {0};
    if (!sql_merge_untested(ctx->db, &row, engine) || !row.count || !row.since)
        return json_null();
    return json_pack("{s:I, s:s, s:b}", "count", (json_int_t)row.count, "since", row.since, "due",
                     row.count >= policy_untested(ctx->db, engine));
}

json_t *doc_merges_of_engine(const DocContext *ctx, int64_t engine) {
    return json_pack("{s:o, s:o, s:o, s:i}", "policy", policy_words(ctx->db, engine), "queue",
                     sql_merge_queue(ctx->db, engine), "untested", untested(ctx, engine),
                     "untested_max", policy_untested(ctx->db, engine));
}

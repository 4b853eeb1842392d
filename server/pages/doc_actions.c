// See doc_actions.h.
#include "server/pages/doc_actions.h"

#include <string.h>

#include "server/common/json_member.h"
#include "server/common/uci_option.h"
#include "server/ledger/rerun.h"
#include "server/pages/doc_merge.h"
#include "server/submit/rights.h"

// ---- actions ------------------------------------------------------------------------------------

static json_t *verdict(bool ok, const char *why) {
    return ok ? json_pack("{s:b}", "ok", 1) : json_pack("{s:b, s:s}", "ok", 0, "why", why);
}

static void add_action(json_t *actions, Action action, const Caller *caller,
                       const SqlTestForChange *row) {
    Error why;
    if (!action_name(action) || !right_fits(action, caller, row, &why))
        return;
    bool ok = right_check(action, caller, row, &why);
    json_object_set_new(actions, action_name(action), verdict(ok, why.message));
}

// What the viewer should know before a change. Null: no other person has to agree to it.
static json_t *withdrawal(const Caller *caller, const SqlTestForChange *row) {
    Error ignored;
    bool approved = strcmp(row->state, "active") == 0 || strcmp(row->state, "paused") == 0;
    return !approved || right_approves(caller, row, &ignored)
               ? json_null()
               : json_string("More games, or a higher priority above 0, take the approval back.");
}

json_t *doc_actions(const DocContext *ctx, int64_t test) {
    Turn turn = {.db = ctx->db, .now = ctx->now};
    Caller caller = {.turn = &turn, .viewer = ctx->viewer, .data = ctx->data};
    SqlTestForChange row scope(sql_row_free) = {0};
    json_t *actions = json_object();
    if (!sql_test_for_change(ctx->db, &row, test))
        return actions;
    for (Action action = 0; action < ACTION_COUNT; action++)
        add_action(actions, action, &caller, &row);
    json_t *merge = json_object_get(actions, "merge");
    if (merge)
        doc_add_merge(&caller, &row, merge);
    json_t *modify = json_object_get(actions, "modify");
    if (modify)
        json_object_set_new(modify, "note", withdrawal(&caller, &row));
    return actions;
}

json_t *doc_machine_actions(const DocContext *ctx, const json_t *machine, bool vouched) {
    Turn turn = {.db = ctx->db, .now = ctx->now};
    Caller caller = {.turn = &turn, .viewer = ctx->viewer, .data = ctx->data};
    Error why;
    bool blocked = json_is_true(json_object_get(machine, "blocked"));
    json_t *block = verdict(right_to_block(&caller, &why), why.message);
    json_t *vouch = verdict(right_to_vouch(&caller, &why), why.message);
    json_t *retest = NULL;
    if (!blocked)
        retest = verdict(right_to_block(&caller, &why) && rerun_is_on(ctx->db, &why), why.message);
    return json_pack("{s:o, s:o*, s:o}", blocked ? "unblock" : "block", block, "retest", retest,
                     vouched ? "unvouch" : "vouch", vouch);
}

// ---- warnings -----------------------------------------------------------------------------------

static void warn_if(json_t *warnings, bool condition, const char *text) {
    if (condition)
        json_array_append_new(warnings, json_string(text));
}

static bool same(const json_t *row, const char *a, const char *b) {
    return json_equal(json_object_get(row, a), json_object_get(row, b));
}

// The patch may add an option or change its limits, so the list of the base refuses nothing.
static void warn_of_options(json_t *warnings, const json_t *row) {
    Error why;
    const char *list = json_string_value(json_object_get(row, "base_option_list"));
    if (!list || !json_is_null(json_object_get(row, "new_option_list")) ||
        uci_list_fits_text(list, member_text(row, "new_options"), &why))
        return;
    char *text scope(free_ptr) =
        xasprintf("The options of the patch do not fit the list of the base: %s. Unless the patch "
                  "changes that, machines will refuse the test.",
                  why.message);
    json_array_append_new(warnings, json_string(text));
}

json_t *doc_base_test(Db *db, int64_t engine, const char *base, bool in_baseline) {
    int64_t covers =
        in_baseline ? 0 : sql_approval_of_commit(db, 0, .engine = engine, .commit = base);
    return covers ? json_integer(covers) : json_null();
}

static void warn_of_base(json_t *warnings, const json_t *row) {
    int64_t test = member_int(row, "base_test");
    char *of scope(free_ptr) =
        test ? xasprintf("the commit of test %lld", (long long)test) : xstrdup("no commit");
    char *text scope(free_ptr) =
        xasprintf("The base is %s%s: the changes that it adds are shown, and they run on the "
                  "machines, too.",
                  of, test ? ", which is not in the branch" : " of the branch");
    warn_if(warnings, !json_is_true(json_object_get(row, "base_in_baseline")), text);
}

json_t *doc_warnings(const json_t *row, const json_t *failures) {
    json_t *warnings = json_array();
    bool benched = !json_is_null(json_object_get(row, "new_bench"));
    bool one_tree = same(row, "new_snapshot", "base_snapshot");
    warn_if(warnings, one_tree, "Both sides have the same source.");
    warn_if(warnings, !same(row, "new_options", "base_options"),
            "The two sides have different options.");
    warn_of_options(warnings, row);
    warn_if(warnings, !benched && strcmp(member_text(row, "state"), "finished") != 0,
            "No bench is declared; the first machines to build the patch establish it.");
    warn_if(warnings, !one_tree && benched && same(row, "new_bench", "base_bench"),
            "Both sides have the same bench: the patch changes nothing that the bench sees.");
    warn_of_base(warnings, row);
    warn_if(warnings, member_int(row, "priority") > 0, "The priority is raised.");
    warn_if(warnings, json_array_size(failures) > 0, "Machines have reported failures.");
    return warnings;
}

// For every action, person and state of a test, what pages show beside what the function that does
// it answers. Who may do what is written out in test_submit_persons.c.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/common/file.h"
#include "server/common/json_member.h"
#include "server/git/snapshot.h"
#include "server/pages/doc_actions.h"
#include "server/submit/actions.h"
#include "server/submit/approve.h"
#include "server/submit/merge.h"
#include "server/submit/rights.h"
#include "tests/kit/action_kit.h"
#include "tests/kit/repo_kit.h"
#include "tests/kit/submit_kit.h"

// ---- states -------------------------------------------------------------------------------------

// As changes to the pending test 1 and its sides.
static const struct {
    const char *test, *sides;
} situations[] = {
    {"state = 'pending'", NULL},
    {"state = 'active', approved_hash = 'x'", NULL},
    {"state = 'paused', approved_hash = 'x'", NULL},
    {"state = 'finished', finished = 1, result = 'accepted', approved_hash = 'x'", NULL},
    {"state = 'finished', finished = 1, result = 'accepted', approved_hash = 'x'",
     "options = 'Hash=32' WHERE side = 'new'"},
    {"state = 'finished', finished = 1, result = 'accepted', approved_hash = 'x', "
     "merged_commit = 'x'",
     NULL},
    {"state = 'finished', finished = 1, result = 'accepted', approved_hash = 'x', harmful = 1",
     NULL},
    {"state = 'finished', finished = 1, result = 'rejected', approved_hash = 'x'", NULL},
    {"state = 'finished', finished = 1, result = 'stopped'", NULL},
    {"state = 'finished', finished = 1, result = 'stopped', harmful = 1", NULL},
    {"state = 'finished', finished = 1, result = 'failed', approved_hash = 'x'", NULL},
    {"state = 'finished', finished = 1, result = 'failed', approved_hash = 'x', harmful = 1", NULL},
    {"state = 'finished', finished = 1, result = 'completed', approved_hash = 'x'", NULL},
    {"state = 'finished', finished = 1, result = 'undecided', approved_hash = 'x'", NULL},
    // The base is approved no longer, or merged without the row's knowledge.
    {"state = 'pending'", "grounded = 0 WHERE side = 'base'"},
    {"state = 'paused', approved_hash = 'x'", "grounded = 0 WHERE side = 'base'"},
    {"state = 'pending'",
     "sha = (SELECT sha FROM sides WHERE side = 'new'), grounded = 0 WHERE side = 'base'"},
    {"state = 'paused', approved_hash = 'x'",
     "sha = (SELECT sha FROM sides WHERE side = 'new'), grounded = 0 WHERE side = 'base'"},
    // The commit is in the baseline, as that of a test of options is.
    {"state = 'active', approved_hash = 'x'", "sha = (SELECT sha FROM sides WHERE side = 'base')"},
};

// What the page of test 1 shows to this person; NULL: it does not offer the action. New.
static json_t *shown(SubmitKit *kit, Action action) {
    DocContext ctx = {.db = kit->ledger.db,
                      .now = kit->ledger.turn.now,
                      .viewer = &kit->viewer,
                      .data = kit->ledger.folder};
    json_auto_t *actions = doc_actions(&ctx, 1);
    return action_name(action) ? json_incref(json_object_get(actions, action_name(action))) : NULL;
}

static void compare(SubmitKit *kit, Action action, int64_t user, const char *situation) {
    Error err = {0};
    const Caller *caller = submit_kit_as(kit, user);
    json_auto_t *button = shown(kit, action);
    db_savepoint(kit->ledger.db);
    bool done = kit_act(action, caller, &err);
    db_savepoint_undo(kit->ledger.db);
    bool is_ok = json_is_true(json_object_get(button, "ok"));
    const char *name = action_name(action) ? action_name(action) : "(no button)";
    if (button && is_ok != done)
        fail_msg("%s by %s where %s: the page says %s (%s), the call %s (%s)", name,
                 kit->viewer.name, situation, is_ok ? "yes" : "no", member_text(button, "why"),
                 done ? "does it" : "refuses", err.message);
    const char *why = member_text(button, "why");
    if (button && !done && !strstr(err.message, why))
        fail_msg("%s by %s where %s: the page says '%s', the call '%s'", name, kit->viewer.name,
                 situation, why, err.message);
    if (!button && action_name(action) && done)
        fail_msg("%s by %s where %s: no button, and the call does it", name, kit->viewer.name,
                 situation);
}

static void set_situation(SubmitKit *kit, size_t i) {
    kit_sql(&kit->ledger, "UPDATE tests SET result = NULL, finished = NULL, approved_hash = NULL, "
                          "merged_commit = NULL, harmful = 0, state = 'pending'");
    kit_sql(&kit->ledger,
            "UPDATE sides SET sha = iif(side = 'new', '%s', '%s'), options = 'Hash=16', "
            "grounded = 1",
            kit->patched, kit->base);
    kit_sql(&kit->ledger, "UPDATE tests SET %s", situations[i].test);
    if (situations[i].sides)
        kit_sql(&kit->ledger, "UPDATE sides SET %s", situations[i].sides);
}

static void what_pages_show_is_what_calls_answer(void **state) {
    SubmitKit *kit = *state;
    for (size_t i = 0; i < sizeof situations / sizeof *situations; i++) {
        char *what scope(free_ptr) =
            xasprintf("%s; %s", situations[i].test, situations[i].sides ? situations[i].sides : "");
        set_situation(kit, i);
        for (int64_t user = KIT_NOBODY; user <= KIT_DEVELOPER; user++)
            for (Action action = 0; action < ACTION_COUNT; action++)
                compare(kit, action, user, what);
        kit_sql(&kit->ledger, "UPDATE tests SET author_id = %d", KIT_MAINTAINER); // own test
        for (Action action = 0; action < ACTION_COUNT; action++)
            compare(kit, action, KIT_MAINTAINER, what);
        kit_sql(&kit->ledger, "UPDATE tests SET author_id = %d", KIT_AUTHOR);
    }
}

static void check_refusal(SubmitKit *kit, int64_t user, Action action, int status,
                          const char *words) {
    Error err = {0};
    assert_false(kit_act(action, submit_kit_as(kit, user), &err));
    assert_int_equal(err.status, status);
    if (!strstr(err.message, words))
        fail_msg("'%s' is not in '%s'", words, err.message);
}

static void refusals_say_what_is_needed(void **state) {
    SubmitKit *kit = *state;
    check_refusal(kit, KIT_NOBODY, ACTION_STOP, 401, "sign in first");
    check_refusal(kit, KIT_USER, ACTION_STOP, 403,
                  "for the author of the test and for maintainers of anvil");
    check_refusal(kit, KIT_DEVELOPER, ACTION_APPROVE, 403, "needs the role maintainer of anvil");
    check_refusal(kit, KIT_MAINTAINER, ACTION_PAUSE, 409, "test 1 is pending");
    check_refusal(kit, KIT_MAINTAINER, ACTION_MERGE, 409, "only an accepted test can be merged");
    kit_sql(&kit->ledger, "UPDATE tests SET author_id = %d", KIT_MAINTAINER);
    check_refusal(kit, KIT_MAINTAINER, ACTION_APPROVE, 403, "you cannot approve your own test");
    kit_sql(&kit->ledger, "INSERT INTO settings VALUES ('self_approval', '1')");
    Error err;
    assert_true(kit_act(ACTION_APPROVE, submit_kit_as(kit, KIT_MAINTAINER), &err));
}

static void a_net_that_is_missing_holds_up_the_approval_and_may_be_uploaded(void **state) {
    SubmitKit *kit = *state;
    kit_sql(&kit->ledger,
            "UPDATE commits SET net = 'cd678642492f', files = '[{\"blob\":\"cd\",\"path\":\"n\"}]' "
            "WHERE sha = '%s'",
            kit->patched);
    check_refusal(kit, KIT_MAINTAINER, ACTION_APPROVE, 409, "cd678642492f");
    for (int64_t user = KIT_NOBODY; user <= KIT_DEVELOPER; user++)
        for (Action action = 0; action < ACTION_COUNT; action++)
            compare(kit, action, user, "a net is missing");
}

// ---- what the page knows from git ---------------------------------------------------------------

// Another commit of the engine, on top of `parent`, whose file `name` has this text.
static void commit_file(SubmitKit *kit, const char *parent, const char *name, const char *text,
                        char sha[REPO_SHA_MAX]) {
    Error err;
    char *source scope(free_ptr) = xasprintf("%s/another", kit->ledger.folder);
    git_repository *repo scope(repo_free) = repo_open(kit->ledger.folder, "anvil", &err);
    kit_write(source, "main.c", "int main(void) {\n    return 0;\n}\n");
    kit_write(source, name, text);
    kit_commit(repo, source, parent, sha);
    assert_true(folder_remove(source, &err));
}

// Makes this commit the patch of test 1.
static void test_commit(SubmitKit *kit, const char *sha) {
    Error err;
    char snapshot[SHA256_HEX_MAX];
    git_repository *repo scope(repo_free) = repo_open(kit->ledger.folder, "anvil", &err);
    assert_true(snapshot_hash(repo, sha, snapshot, &err));
    kit_sql(&kit->ledger,
            "INSERT INTO commits (engine_id, sha, snapshot, subject, author, created) "
            "SELECT engine_id, '%s', '%s', subject, author, created FROM commits "
            "WHERE sha = '%s'",
            sha, snapshot, kit->patched);
    kit_sql(&kit->ledger, "UPDATE sides SET sha = '%s' WHERE side = 'new'", sha);
}

static void check_button(SubmitKit *kit, Action action, const char *words) {
    submit_kit_as(kit, KIT_MAINTAINER);
    json_auto_t *button = shown(kit, action);
    const char *why = member_text(button, "why");
    assert_true(json_is_false(json_object_get(button, "ok")));
    if (!strstr(why, words))
        fail_msg("'%s' is not in '%s'", words, why);
    compare(kit, action, KIT_MAINTAINER, words);
}

static void a_diff_that_is_too_long_to_be_shown_is_not_offered_for_approval(void **state) {
    SubmitKit *kit = *state;
    char sha[REPO_SHA_MAX];
    Str text scope(str_release);
    str_init(&text, 1 << 20);
    for (int i = 0; i < 60000; i++)
        str_printf(&text, "%d\n", i % 9);
    commit_file(kit, kit->base, "long.c", text.data, sha);
    test_commit(kit, sha);
    check_button(kit, ACTION_APPROVE, "the diff has over 50000 lines");
}

static void files_that_the_diff_does_not_show_are_a_question_beside_the_button(void **state) {
    SubmitKit *kit = *state;
    Error err = {0};
    Ground ground;
    char sha[REPO_SHA_MAX];
    char *bytes scope(free_ptr) = xcalloc(1, 100001);
    memset(bytes, 1, 100000);
    commit_file(kit, kit->base, "net.bin", bytes, sha);
    test_commit(kit, sha);
    compare(kit, ACTION_APPROVE, KIT_MAINTAINER, "a file is not shown"); // says it was seen
    json_auto_t *button = shown(kit, ACTION_APPROVE);
    assert_true(json_is_true(json_object_get(button, "ok")));
    assert_false(submit_approve_prepare(&kit->caller, 1, false, &ground, &err));
    assert_string_equal(err.code, "files_unseen");
}

static void a_patch_that_no_longer_fits_the_baseline_is_not_offered_for_merging(void **state) {
    SubmitKit *kit = *state;
    char sha[REPO_SHA_MAX];
    commit_file(kit, kit->base, "other.c", "int other = 2;\n", sha);
    kit_sql(&kit->ledger, "UPDATE tests SET state = 'finished', finished = 1, result = 'accepted'");
    kit_sql(&kit->ledger, "UPDATE engines SET baseline = '%s'", sha);
    check_button(kit, ACTION_MERGE, "other.c was changed by both");
}

static void a_change_that_the_baseline_holds_is_not_offered_for_merging(void **state) {
    SubmitKit *kit = *state;
    char sha[REPO_SHA_MAX];
    commit_file(kit, kit->base, "other.c", "int other;\n", sha);
    kit_sql(&kit->ledger, "UPDATE tests SET state = 'finished', finished = 1, result = 'accepted'");
    kit_sql(&kit->ledger, "UPDATE engines SET baseline = '%s'", sha);
    check_button(kit, ACTION_MERGE, "the baseline holds this change already");
}

static void a_patch_that_fits_a_new_baseline_is_offered(void **state) {
    SubmitKit *kit = *state;
    char sha[REPO_SHA_MAX];
    commit_file(kit, kit->base, "third.c", "int third;\n", sha);
    kit_sql(&kit->ledger, "UPDATE tests SET state = 'finished', finished = 1, result = 'accepted'");
    kit_sql(&kit->ledger, "UPDATE engines SET baseline = '%s'", sha);
    submit_kit_as(kit, KIT_MAINTAINER);
    json_auto_t *button = shown(kit, ACTION_MERGE);
    assert_true(json_is_true(json_object_get(button, "ok")));
    assert_true(json_is_false(json_object_get(button, "forward")));
}

// What the page says of a merge beside what the merge does.
static void check_merge(SubmitKit *kit, bool moves) {
    Error err;
    MergeEnd end = {.retest = -1};
    const Caller *caller = submit_kit_as(kit, KIT_MAINTAINER);
    json_auto_t *button = shown(kit, ACTION_MERGE);
    assert_int_equal(json_is_true(json_object_get(button, "forward")), moves);
    Merge *merge = submit_merge_prepare(caller, (MergeAsk){.test = 1, .turned_too = true}, &err);
    if (!merge || !submit_merge(caller, merge, &end, &err))
        fail_msg("%s", err.message);
    merge_free(merge);
    assert_int_equal(end.retest == 0, moves);
}

static void
a_commit_on_the_baseline_moves_the_branch_and_one_beside_it_is_offered_again(void **state) {
    SubmitKit *kit = *state;
    char sha[REPO_SHA_MAX];
    commit_file(kit, kit->base, "third.c", "int third;\n", sha);
    kit_sql(&kit->ledger, "UPDATE tests SET state = 'finished', finished = 1, result = 'accepted'");
    db_savepoint(kit->ledger.db);
    check_merge(kit, true);
    db_savepoint_undo(kit->ledger.db);
    kit_sql(&kit->ledger,
            "INSERT INTO commits (engine_id, sha, snapshot, subject, author, created) "
            "SELECT engine_id, '%s', snapshot, subject, author, created FROM commits "
            "WHERE sha = '%s'",
            sha, kit->base);
    kit_sql(&kit->ledger, "UPDATE engines SET baseline = '%s'", sha);
    kit_sql(&kit->ledger, "UPDATE sides SET sha = '%s' WHERE side = 'base'", sha);
    check_merge(kit, false);
}

static void a_token_for_submitting_has_no_more_than_a_developers_rights(void **state) {
    SubmitKit *kit = *state;
    Error err = {0};
    const Caller *caller = submit_kit_as(kit, KIT_MAINTAINER);
    snprintf(kit->viewer.scope, sizeof kit->viewer.scope, "submit");
    assert_false(kit_act(ACTION_APPROVE, caller, &err));
    assert_false(submit_block(caller, 1, true, "", &err));
    assert_int_equal(err.status, 403);
    *kit->viewer.scope = 0;
    assert_true(submit_block(caller, 1, true, "", &err));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_pages_show_is_what_calls_answer, submit_kit_set_up,
                                        submit_kit_tear_down),
        cmocka_unit_test_setup_teardown(refusals_say_what_is_needed, submit_kit_set_up,
                                        submit_kit_tear_down),
        cmocka_unit_test_setup_teardown(
            a_net_that_is_missing_holds_up_the_approval_and_may_be_uploaded, submit_kit_set_up,
            submit_kit_tear_down),
        cmocka_unit_test_setup_teardown(
            a_diff_that_is_too_long_to_be_shown_is_not_offered_for_approval, submit_kit_set_up,
            submit_kit_tear_down),
        cmocka_unit_test_setup_teardown(
            files_that_the_diff_does_not_show_are_a_question_beside_the_button, submit_kit_set_up,
            submit_kit_tear_down),
        cmocka_unit_test_setup_teardown(
            a_patch_that_no_longer_fits_the_baseline_is_not_offered_for_merging, submit_kit_set_up,
            submit_kit_tear_down),
        cmocka_unit_test_setup_teardown(a_change_that_the_baseline_holds_is_not_offered_for_merging,
                                        submit_kit_set_up, submit_kit_tear_down),
        cmocka_unit_test_setup_teardown(
            a_commit_on_the_baseline_moves_the_branch_and_one_beside_it_is_offered_again,
            submit_kit_set_up, submit_kit_tear_down),
        cmocka_unit_test_setup_teardown(a_patch_that_fits_a_new_baseline_is_offered,
                                        submit_kit_set_up, submit_kit_tear_down),
        cmocka_unit_test_setup_teardown(a_token_for_submitting_has_no_more_than_a_developers_rights,
                                        submit_kit_set_up, submit_kit_tear_down),
    };
    return cmocka_run_group_tests_name("submit_rights", tests, NULL, NULL);
}

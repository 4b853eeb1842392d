// Merges without a new test: trials, the queue, undoing. Without a server; machines are rows.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include "server/submit/merge_queue.h"
#include "server/submit/undo.h"
#include "tests/kit/merge_kit.h"

// A change of `path` that was accepted on the first baseline.
static int64_t accepted(SubmitKit *kit, const char *path) {
    char *patch scope(free_ptr) =
        xasprintf("diff --git a/%s b/%s\nnew file mode 100644\n--- /dev/null\n+++ b/%s\n"
                  "@@ -0,0 +1 @@\n+int x;\n",
                  path, path, path);
    int64_t test = kit_approved(kit, "{\"title\": \"A change\"}", patch);
    kit_accept(kit, test);
    return test;
}

static char *queue_of(SubmitKit *kit, int64_t test) {
    return kit_text(
        &kit->ledger,
        "SELECT state || ' ' || reason FROM merges WHERE test_id = %lld ORDER BY id DESC",
        (long long)test);
}

static void assert_queue(SubmitKit *kit, int64_t test, const char *wanted) {
    char *found scope(free_ptr) = queue_of(kit, test);
    if (!found || strncmp(found, wanted, strlen(wanted)) != 0)
        fail_msg("test %lld: %s, not %s", (long long)test, found ? found : "no row", wanted);
}

// Lets the queue work until the newest row of the test is in the state.
static void until(SubmitKit *kit, MergeQueue *queue, int64_t test, const char *state) {
    for (int i = 0; i < 2000; i++) {
        char *found scope(free_ptr) = queue_of(kit, test);
        if (found && strncmp(found, state, strlen(state)) == 0)
            return;
        merge_queue_tick(queue, &kit->ledger.turn);
        kit_turn(&kit->ledger);
        usleep(10000);
    }
    assert_queue(kit, test, state);
}

// What machines do: build, agree on a count (0: they do not) and play.
static void end_trial(SubmitKit *kit, int64_t trial, const char *result, int64_t bench) {
    if (bench)
        kit_sql(
            &kit->ledger,
            "INSERT INTO trees (engine_id, snapshot, bench) SELECT 1, c.snapshot, %lld FROM sides "
            "s JOIN commits c ON c.sha = s.sha WHERE s.test_id = %lld AND s.side = 'new'",
            (long long)bench, (long long)trial);
    kit_sql(&kit->ledger,
            "UPDATE tests SET state = 'finished', result = '%s', finished = 2, reason = 'why' "
            "WHERE id = %lld",
            result, (long long)trial);
    kit_turn(&kit->ledger);
}

static int64_t trial_of(SubmitKit *kit, int64_t test) {
    return kit_int(&kit->ledger, "SELECT max(id) FROM tests WHERE trial_of = %lld",
                   (long long)test);
}

static char *baseline_message(SubmitKit *kit) {
    CommitInfo info scope(repo_commit_info_release) = {0};
    char *sha scope(free_ptr) = kit_text(&kit->ledger, "SELECT baseline FROM engines");
    git_repository *repo scope(repo_free) =
        repo_open(kit->ledger.folder, "anvil", &kit->ledger.err);
    assert_true(repo_commit_info(repo, sha, &info, &kit->ledger.err));
    return xstrdup(info.message);
}

static void a_change_apart_is_merged_after_a_trial(void **state) {
    SubmitKit *kit = *state;
    int64_t test = accepted(kit, "one.c");
    kit_merge(kit, 1);
    MergeEnd end = kit_merge_as(kit, KIT_MAINTAINER, test);
    assert_true(end.trial && !end.retest && !end.waits);
    assert_column(kit, end.trial, "state || workload || approved_by || trial_of || pairs_max",
                  "activefixed22400");
    MergeQueue *queue = merge_queue_start(kit->ledger.folder, &kit->ledger.err);
    merge_queue_tick(queue, &kit->ledger.turn);
    assert_queue(kit, test, "trial ");
    end_trial(kit, end.trial, "completed", 777);
    until(kit, queue, test, "merged");
    assert_column(kit, test, "merged_commit = (SELECT baseline FROM engines)", "1");
    char *message scope(free_ptr) = baseline_message(kit);
    assert_string_equal(message, "A change\n\nBench: 777\n");
    assert_event(kit, test, "merged", "main is now at");
    merge_queue_stop(queue);
}

static void merges_wait_for_each_other(void **state) {
    SubmitKit *kit = *state;
    int64_t tests[3];
    for (int i = 0; i < 3; i++)
        tests[i] = accepted(kit, (const char *[]){"a.c", "b.c", "c.c"}[i]);
    kit_merge(kit, 1);
    MergeQueue *queue = merge_queue_start(kit->ledger.folder, &kit->ledger.err);
    for (int i = 0; i < 3; i++)
        assert_int_equal(kit_merge_as(kit, KIT_MAINTAINER, tests[i]).waits, i > 0);
    end_trial(kit, trial_of(kit, tests[0]), "completed", 1);
    until(kit, queue, tests[1], "trial");
    assert_queue(kit, tests[0], "merged");
    assert_queue(kit, tests[2], "waiting");
    end_trial(kit, trial_of(kit, tests[1]), "failed", 0);
    until(kit, queue, tests[2], "trial");
    assert_queue(kit, tests[1], "refused its trial, test ");
    assert_event(kit, tests[1], "unmerged", "failed: why");
    end_trial(kit, trial_of(kit, tests[2]), "completed", 3);
    until(kit, queue, tests[2], "merged");
    merge_queue_stop(queue);
}

static void a_tree_without_a_count_is_not_merged(void **state) {
    SubmitKit *kit = *state;
    int64_t test = accepted(kit, "one.c");
    kit_merge(kit, 1);
    MergeQueue *queue = merge_queue_start(kit->ledger.folder, &kit->ledger.err);
    end_trial(kit, kit_merge_as(kit, KIT_MAINTAINER, test).trial, "completed", 0);
    until(kit, queue, test, "refused");
    assert_event(kit, test, "unmerged", "agreed on no bench count");
    assert_column(kit, test, "merged_commit", "");
    merge_queue_stop(queue);
}

// Each of these needs a new test.
static void what_is_not_apart_is_tested_again(void **state) {
    static const struct {
        const char *path, *meanwhile, *why;
    } cases[] = {
        {"x.mk", "SELECT 1", "x.mk decides how the engine is built"},
        {"one.c", "UPDATE engines SET policy = '{\"untested\": 0}'", "merges nothing without"},
        {"one.c", "UPDATE tests SET approved_by = NULL WHERE id = 2", "no longer holds"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SubmitKit *kit = *state;
        int64_t test = accepted(kit, cases[i].path);
        kit_merge(kit, 1);
        kit_sql(&kit->ledger, "%s", cases[i].meanwhile);
        assert_true(kit_merge(kit, test) > test);
        assert_event(kit, test, "rebased", cases[i].why);
        submit_kit_tear_down(state);
        assert_int_equal(submit_kit_set_up(state), 0);
    }
}

static void the_operator_may_move_the_baseline_meanwhile(void **state) {
    SubmitKit *kit = *state;
    int64_t test = accepted(kit, "one.c"), other = accepted(kit, "two.c"), again;
    kit_merge(kit, 1);
    MergeQueue *queue = merge_queue_start(kit->ledger.folder, &kit->ledger.err);
    int64_t trial = kit_merge_as(kit, KIT_MAINTAINER, test).trial;
    kit_sql(&kit->ledger,
            "UPDATE engines SET baseline = (SELECT sha FROM sides WHERE test_id = %lld AND side = "
            "'new')",
            (long long)other);
    end_trial(kit, trial, "completed", 5);
    for (again = trial; again == trial; again = trial_of(kit, test)) {
        merge_queue_tick(queue, &kit->ledger.turn);
        kit_turn(&kit->ledger);
        usleep(10000);
    }
    end_trial(kit, again, "completed", 6);
    until(kit, queue, test, "merged");
    char *message scope(free_ptr) = baseline_message(kit);
    assert_string_equal(message, "A change\n\nBench: 6\n");
    merge_queue_stop(queue);
}

static void who_merges_must_still_be_a_maintainer(void **state) {
    SubmitKit *kit = *state;
    int64_t test = accepted(kit, "one.c");
    kit_merge(kit, 1);
    MergeQueue *queue = merge_queue_start(kit->ledger.folder, &kit->ledger.err);
    int64_t trial = kit_merge_as(kit, KIT_MAINTAINER, test).trial;
    kit_sql(&kit->ledger, "DELETE FROM roles WHERE user_id = 2");
    end_trial(kit, trial, "completed", 5);
    until(kit, queue, test, "refused this needs the role maintainer");
    merge_queue_stop(queue);
}

static void a_merge_is_undone_until_the_next(void **state) {
    SubmitKit *kit = *state;
    Error *err = &kit->ledger.err;
    int64_t later = accepted(kit, "one.c");
    kit_merge(kit, 1);
    const Caller *caller = submit_kit_as(kit, KIT_MAINTAINER);
    MergeUndo *undo = submit_undo_prepare(caller, 1, err);
    assert_true(undo && submit_undo(caller, undo, err));
    undo_free(undo);
    kit_turn(&kit->ledger);
    char *message scope(free_ptr) = baseline_message(kit);
    assert_non_null(strstr(message, "Undo the merge of test 1"));
    assert_non_null(strstr(message, "\n\nBench: 2345678\n"));
    assert_null(submit_undo_prepare(caller, 1, err));
    assert_string_equal(err->message, "the merge of this test was undone already");
    assert_null(submit_merge_prepare(caller, (MergeAsk){.test = 1, .turned_too = true}, err));
    assert_string_equal(err->code, "merged");
    assert_true(kit_merge_as(kit, KIT_MAINTAINER, later).trial);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, submit_kit_set_up, submit_kit_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_change_apart_is_merged_after_a_trial),
        TEST(merges_wait_for_each_other),
        TEST(a_tree_without_a_count_is_not_merged),
        TEST(what_is_not_apart_is_tested_again),
        TEST(the_operator_may_move_the_baseline_meanwhile),
        TEST(who_merges_must_still_be_a_maintainer),
        TEST(a_merge_is_undone_until_the_next),
    };
    return cmocka_run_group_tests_name("merge_queue", tests, NULL, NULL);
}

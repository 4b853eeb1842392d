// The options of the engine of a commit: whose list is kept, and which failures of kind `option`
// count.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/kit/ledger_kit.h"

#define HASH "option name Hash type spin default 16 min 1 max 1024\n"
#define MORE HASH "option name Contempt type spin default 0 min -9 max 9\n"

static LedgerKit kit;
static int64_t task;

static int open_task(void **state) {
    (void)state;
    task = kit_open_task(&kit);
    return task > 0 ? 0 : -1;
}

static int open_unproven(void **state) {
    int status = open_task(state);
    kit_earn(&kit);
    kit_sql(&kit, "UPDATE tasks SET level = 0");
    return status;
}

static int close_kit(void **state) {
    (void)state;
    kit_close(&kit);
    return 0;
}

static bool send(int64_t of, int64_t worker, const char *list) {
    return ledger_option_list(&kit.turn, of, worker, "new", list, &kit.err);
}

// The list of the new side's commit; "" if it has none.
static bool list_is(const char *wanted) {
    char *list scope(free_ptr) =
        kit_text(&kit, "SELECT coalesce(options, '') FROM known_commits WHERE sha LIKE '2222%%'");
    return strcmp(list, wanted) == 0;
}

static bool fail_option(int64_t of, int64_t worker) {
    Failure failure = {.task = of,
                       .worker = worker,
                       .kind = "option",
                       .side = "new",
                       .message = "the engine has no option Hsh; its nearest options are Hash",
                       .log = MORE};
    return ledger_fail(&kit.turn, &failure, &kit.err);
}

static bool state_is(const char *wanted, const char *word) {
    char *state scope(free_ptr) = kit_text(&kit, "SELECT state FROM tests WHERE id = 1");
    char *reason scope(free_ptr) = kit_text(&kit, "SELECT reason FROM tests WHERE id = 1");
    return strcmp(state, wanted) == 0 && strstr(reason, word);
}

// Also for the tasks that it has.
static void vouch_for(const char *owner) {
    kit_sql(&kit, "INSERT INTO vouches (owner, user_id, reason, created) VALUES ('%s', 3, '', 1)",
            owner);
    kit_sql(&kit, "UPDATE tasks SET level = 2 WHERE owner = '%s'", owner);
}

// ---- lists --------------------------------------------------------------------------------------

static void a_single_owner_is_believed_until_another_contradicts(void **state) {
    (void)state;
    int64_t other = kit_claim(&kit, 3, 4, 0), third = kit_claim(&kit, 4, 4, 0);
    assert_true(send(task, 1, HASH));
    assert_true(list_is(HASH));
    assert_true(send(other, 3, MORE));
    assert_true(list_is(""));
    assert_true(state_is("active", "")); // limits may depend on the machine
    assert_true(send(third, 4, MORE));
    assert_true(list_is(MORE));
}

static void a_vouched_owner_outweighs_all_others(void **state) {
    (void)state;
    vouch_for("user 2");
    int64_t other = kit_claim(&kit, 3, 4, 0), third = kit_claim(&kit, 4, 4, 0);
    assert_true(send(task, 1, HASH) && send(third, 4, HASH));
    assert_true(list_is("")); // the installation knows better owners
    assert_true(send(other, 3, MORE));
    assert_true(list_is(MORE));
}

static void what_is_no_list_is_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"uciok\n", "option name A", "option name A\n\x01\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(send(task, 1, bad[i]));
        assert_string_equal(kit.err.field, "options");
    }
    assert_false(send(task, 3, HASH)); // not its task
    assert_true(send(task, 1, ""));    // an engine without options
    assert_true(list_is(""));
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM trees WHERE options = ''"), 1);
}

static void a_commit_has_room_for_few_lists_and_always_for_proven_owners(void **state) {
    (void)state;
    kit_machines(&kit, 100, 131);
    kit_sql(&kit,
            "INSERT INTO option_lists SELECT 1, (SELECT snapshot FROM commits WHERE sha LIKE "
            "'2222%%'), id, owner, network, 0, 'option name L' || id || char(10), 1 FROM workers "
            "WHERE id >= 100");
    assert_true(send(task, 1, HASH));
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM option_lists"), OPTION_LISTS_MAX);
    kit_sql(&kit, "UPDATE tasks SET level = 2");
    assert_true(send(task, 1, HASH));
    assert_true(list_is(HASH));
}

static void who_resumes_a_test_has_the_lists_read_again(void **state) {
    (void)state;
    assert_true(send(task, 1, HASH));
    assert_true(ledger_test_pause(&kit.turn, 1, 2, &kit.err));
    assert_true(ledger_test_resume(&kit.turn, 1, 2, &kit.err));
    assert_true(list_is(""));
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM option_lists"), 0);
}

// ---- failures -----------------------------------------------------------------------------------

static void a_machine_alone_pauses_the_test_with_the_list_at_most(void **state) {
    (void)state;
    assert_true(send(task, 1, MORE));
    kit_sql(&kit, "UPDATE sides SET options = 'Hsh=16' WHERE side = 'new'");
    assert_true(fail_option(task, 1));
    assert_true(state_is("paused", "option of new: the engine has no option Hsh"));
    assert_true(state_is("paused", "option name Contempt type spin"));
}

static void a_vouched_owner_ends_the_test(void **state) {
    (void)state;
    vouch_for("user 1");
    kit_sql(&kit, "UPDATE sides SET options = 'Hsh=16' WHERE side = 'new'");
    assert_true(send(task, 1, MORE));
    assert_true(fail_option(task, 1));
    assert_true(kit_result_is(&kit, "failed"));
}

// The machine invents the failure, or its engine is another one.
static void a_failure_that_the_list_contradicts_changes_nothing(void **state) {
    (void)state;
    int64_t other = kit_claim(&kit, 3, 4, 0);
    vouch_for("user 1");
    assert_true(send(task, 1, MORE));
    kit.turn.now += 3600; // the honest owner has gone
    assert_true(fail_option(other, 3));
    assert_true(state_is("active", ""));
    assert_int_equal(kit_claim(&kit, 3, 4, 0), 0); // it does not get the test again
    kit_sql(&kit, "UPDATE sides SET threads = 4 WHERE side = 'new'");
    kit_sql(&kit, "UPDATE workers SET last_seen = 0 WHERE id <> 4");
    assert_true(fail_option(kit_claim(&kit, 4, 4, 0), 4));
    assert_true(state_is("paused", "Hsh")); // the list has no Threads
}

static void two_unproven_owners_pause_the_test(void **state) {
    (void)state;
    int64_t other = kit_claim(&kit, 3, 4, 0);
    assert_true(fail_option(task, 1));
    assert_true(state_is("active", ""));
    assert_true(fail_option(other, 3));
    assert_true(state_is("paused", "no owner that is vouched for"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, open_task, close_kit)
#define UNPROVEN(f) cmocka_unit_test_setup_teardown(f, open_unproven, close_kit)
        CASE(a_single_owner_is_believed_until_another_contradicts),
        UNPROVEN(a_vouched_owner_outweighs_all_others),
        CASE(what_is_no_list_is_refused),
        UNPROVEN(a_commit_has_room_for_few_lists_and_always_for_proven_owners),
        CASE(who_resumes_a_test_has_the_lists_read_again),
        UNPROVEN(a_machine_alone_pauses_the_test_with_the_list_at_most),
        UNPROVEN(a_vouched_owner_ends_the_test),
        UNPROVEN(a_failure_that_the_list_contradicts_changes_nothing),
        UNPROVEN(two_unproven_owners_pause_the_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

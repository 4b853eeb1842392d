// Failures and benches: what machines report of sides, and when it ends a test.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "tests/kit/ledger_kit.h"

static LedgerKit kit;
static BatchReply posted;
static TaskReply reply;
static int64_t task;

static int open_task(void **state) {
    (void)state;
    posted = (BatchReply){0};
    task = kit_open_task(&kit);
    return task > 0 ? 0 : -1;
}

static int open_fresh(void **state) {
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

// ---- failures -----------------------------------------------------------------------------------

static bool fail_task(int64_t of, int64_t worker, const char *kind) {
    Failure failure = {.task = of,
                       .worker = worker,
                       .kind = kind,
                       .side = "new",
                       .message = "make ended with status 2",
                       .log = "search.c:12: error: expected ';'"};
    return ledger_fail(&kit.turn, &failure, &kit.err);
}

static void a_failed_build_of_the_only_owner_ends_the_test(void **state) {
    (void)state;
    assert_true(fail_task(task, 1, "build"));
    assert_true(kit_result_is(&kit, "failed"));
    char *reason scope(free_ptr) = kit_text(&kit, "SELECT reason FROM tests");
    assert_non_null(strstr(reason, "expected ';'"));
    assert_non_null(strstr(reason, "build of new: make ended with status 2"));
}

static void a_failed_build_waits_for_another_owner_if_one_is_active(void **state) {
    (void)state;
    int64_t other = kit_claim(&kit, 3, 4, 0);
    assert_true(fail_task(task, 1, "build"));
    assert_true(kit_result_is(&kit, ""));
    assert_int_equal(kit_claim(&kit, 1, 4, 0), 0); // not this machine again
    int64_t same_owner = kit_claim(&kit, 2, 4, 0);
    assert_true(fail_task(same_owner, 2, "build"));
    assert_true(kit_result_is(&kit, ""));
    assert_true(fail_task(other, 3, "build"));
    assert_true(kit_result_is(&kit, "failed"));
}

static void a_machine_alone_does_not_end_a_test_that_others_play(void **state) {
    (void)state;
    int64_t other = kit_claim(&kit, 3, 4, 0);
    assert_true(kit_post(&kit, other, 3, 0, "2222", &posted));
    kit.turn.now += 3600; // the other is gone, what it played is not
    assert_true(fail_task(task, 1, "build"));
    assert_true(kit_result_is(&kit, ""));
}

static void a_test_that_only_one_owner_has_played_is_paused_and_not_failed(void **state) {
    (void)state;
    assert_true(kit_post(&kit, task, 1, 0, "2222", &posted));
    assert_true(fail_task(task, 1, "engine"));
    assert_true(kit_result_is(&kit, ""));
    char *reason scope(free_ptr) =
        kit_text(&kit, "SELECT reason FROM tests WHERE state = 'paused'");
    assert_non_null(reason);
    assert_non_null(strstr(reason, "make ended with status 2"));
    assert_true(ledger_test_resume(&kit.turn, 1, 2, &kit.err));
    kit.turn.now += 1;
    assert_true(kit_claim(&kit, 1, 4, 0) > 0); // who resumes wants it tried again
}

static void an_owner_whose_machines_cannot_try_confirms_nothing(void **state) {
    (void)state;
    int64_t other = kit_claim(&kit, 3, 4, 0);
    assert_true(fail_task(other, 3, "machine"));
    assert_true(fail_task(task, 1, "build"));
    assert_true(kit_result_is(&kit, "failed"));
}

static void two_owners_who_played_and_cannot_any_more_end_the_test(void **state) {
    (void)state;
    int64_t other = kit_claim(&kit, 3, 4, 0);
    assert_true(kit_post(&kit, task, 1, 0, "2222", &posted));
    assert_true(kit_post(&kit, other, 3, 0, "2222", &posted));
    assert_true(fail_task(task, 1, "engine"));
    assert_true(kit_result_is(&kit, ""));
    assert_true(fail_task(other, 3, "engine"));
    assert_true(kit_result_is(&kit, "failed"));
}

static bool is_paused_saying(const char *a, const char *b) {
    char *state scope(free_ptr) = kit_text(&kit, "SELECT state FROM tests WHERE id = 1");
    char *reason scope(free_ptr) = kit_text(&kit, "SELECT reason FROM tests WHERE id = 1");
    return strcmp(state, "paused") == 0 && strstr(reason, a) && strstr(reason, b);
}

static void no_unproven_owner_ends_a_test(void **state) {
    (void)state;
    int64_t other = kit_claim(&kit, 3, 4, 0);
    assert_true(fail_task(task, 1, "build"));
    assert_false(is_paused_saying("", ""));
    assert_true(fail_task(other, 3, "build"));
    assert_true(is_paused_saying("no owner that is vouched for", "expected ';'"));
}

static void if_a_vouched_owner_plays_other_owners_end_no_test(void **state) {
    (void)state;
    kit_sql(&kit,
            "INSERT INTO vouches (owner, user_id, reason, created) VALUES ('user 1', 3, '', 1)");
    kit_sql(&kit, "UPDATE tasks SET level = 2");
    assert_true(kit_post(&kit, task, 1, 0, "2222", &posted));
    for (int64_t worker = 3; worker <= 4; worker++)
        assert_true(fail_task(kit_claim(&kit, worker, 4, 0), worker, "build"));
    assert_true(kit_result_is(&kit, ""));
    assert_false(is_paused_saying("", ""));
}

static void owners_in_one_network_are_one(void **state) {
    (void)state;
    kit_sql(&kit, "UPDATE workers SET network = '10.0.0.9' WHERE id > 2");
    int64_t other = kit_claim(&kit, 3, 4, 0), third = kit_claim(&kit, 4, 4, 0);
    assert_true(kit_post(&kit, task, 1, 0, "2222", &posted));
    assert_true(fail_task(other, 3, "build"));
    assert_true(fail_task(third, 4, "build"));
    assert_false(is_paused_saying("", ""));
}

static void a_test_that_machines_failed_continues_with_its_results(void **state) {
    (void)state;
    int64_t other = kit_claim(&kit, 3, 4, 0);
    assert_true(kit_post(&kit, task, 1, 0, "2222", &posted));
    assert_true(fail_task(other, 3, "build"));
    assert_true(fail_task(task, 1, "build"));
    assert_true(kit_result_is(&kit, "failed"));
    assert_true(ledger_test_resume(&kit.turn, 1, 2, &kit.err));
    assert_true(kit_result_is(&kit, ""));
    assert_int_equal(
        kit_int(&kit, "SELECT counts ->> '$.ptnml[2]' FROM tests WHERE state = 'active'"), 4);
    assert_int_equal(kit_check(&kit), 0);
    kit.turn.now += 1000;
    assert_true(kit_claim(&kit, 1, 4, 0) > 0);
    assert_true(ledger_test_stop(&kit.turn, 1, 2, "enough", &kit.err));
    assert_false(ledger_test_resume(&kit.turn, 1, 2, &kit.err));
    assert_string_equal(kit.err.code, "wrong_state");
}

static void a_broken_machine_only_rests(void **state) {
    (void)state;
    assert_true(fail_task(task, 1, "sandbox"));
    assert_true(kit_result_is(&kit, ""));
    assert_int_equal(kit_claim(&kit, 1, 4, 0), 0);
    kit.turn.now += 3601;
    assert_true(kit_claim(&kit, 1, 4, 0) > 0);
}

static void a_failure_of_the_wrong_shape_is_refused(void **state) {
    (void)state;
    Failure failure = {
        .task = task, .worker = 1, .kind = "mood", .side = "new", .message = "m", .log = ""};
    assert_false(ledger_fail(&kit.turn, &failure, &kit.err));
    assert_string_equal(kit.err.field, "kind");
    failure.kind = "build";
    failure.side = "old";
    assert_false(ledger_fail(&kit.turn, &failure, &kit.err));
    assert_string_equal(kit.err.field, "side");
}

// ---- benches ------------------------------------------------------------------------------------

static int64_t bench(int64_t of, int64_t worker, const char *side, int64_t nodes) {
    int64_t established;
    if (!ledger_bench(&kit.turn, of, worker, side, nodes, &established, &reply, &kit.err))
        return -1;
    return established;
}

static void the_only_owner_establishes_a_bench(void **state) {
    (void)state;
    assert_int_equal(bench(task, 1, "new", 777), 777);
    assert_int_equal(bench(task, 1, "new", 777), 777);
    assert_int_equal(bench(task, 1, "new", 778), -1);
    assert_string_equal(kit.err.code, "bench_differs");
    assert_int_equal(bench(task, 1, "base", 1), -1);
}

static void two_owners_establish_a_bench_together(void **state) {
    (void)state;
    int64_t other = kit_claim(&kit, 3, 4, 0);
    assert_int_equal(bench(task, 1, "new", 777), 0);
    assert_true(reply.continues);
    assert_int_equal(bench(task, 1, "new", 777), 0);
    assert_int_equal(bench(other, 3, "new", 777), 777);
    assert_int_equal(kit_int(&kit, "SELECT bench FROM known_commits WHERE subject = 'new'"), 777);
}

static void two_counts_without_a_third_owner_pause_the_test(void **state) {
    (void)state;
    int64_t other = kit_claim(&kit, 3, 4, 0);
    assert_int_equal(bench(task, 1, "new", 777), 0);
    assert_int_equal(bench(other, 3, "new", 778), 0);
    assert_string_equal(reply.why, "paused");
    assert_true(kit_result_is(&kit, ""));
    assert_true(is_paused_saying("777 on one (machine 1)", "778 on three (machine 3)"));
}

static void a_resumed_test_has_its_bench_measured_again(void **state) {
    two_counts_without_a_third_owner_pause_the_test(state);
    assert_true(ledger_test_resume(&kit.turn, 1, 2, &kit.err));
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM benches"), 0);
    assert_true(is_paused_saying("", "") == false);
    char *reason scope(free_ptr) = kit_text(&kit, "SELECT reason FROM tests WHERE id = 1");
    assert_string_equal(reason, "");
    int64_t other = kit_claim(&kit, 3, 4, 0), again = kit_claim(&kit, 1, 4, 0);
    assert_int_equal(bench(again, 1, "new", 777), 0);
    assert_int_equal(bench(other, 3, "new", 777), 777);
}

// Machines 1, 3 and 4 belong to three owners.
static void the_third_owner_decides(void **state) {
    (void)state;
    int64_t liar = kit_claim(&kit, 3, 4, 0), third = kit_claim(&kit, 4, 4, 0);
    assert_true(kit_post(&kit, liar, 3, 0, "4444", &posted));
    assert_int_equal(bench(task, 1, "new", 777), 0);
    assert_int_equal(bench(liar, 3, "new", 1), 0);
    assert_true(reply.continues); // the test is not paused while the third is at work
    assert_int_equal(bench(third, 4, "new", 777), 777);
    assert_true(kit_result_is(&kit, "") && reply.continues);
    char *why scope(free_ptr) = kit_text(&kit, "SELECT message FROM failures WHERE worker_id = 3");
    assert_non_null(strstr(why, "bench is 1 there, and 777"));
    assert_int_equal(kit_claim(&kit, 3, 4, 0), 0);
    assert_int_equal(kit_int(&kit, "SELECT excluded FROM log"), 1);
    assert_int_equal(kit_int(&kit, "SELECT counts ->> '$.wins' FROM tests"), 0);
    assert_int_equal(kit_check(&kit), 0);
}

static void the_last_to_speak_may_be_the_outvoted_one(void **state) {
    (void)state;
    int64_t other = kit_claim(&kit, 3, 4, 0), third = kit_claim(&kit, 4, 4, 0);
    assert_int_equal(bench(task, 1, "new", 777), 0);
    assert_int_equal(bench(third, 4, "new", 778), 0);
    assert_int_equal(bench(other, 3, "new", 778), 778);
    assert_int_equal(kit_int(&kit, "SELECT worker_id FROM failures"), 1);
    assert_true(kit_heartbeat(&kit, task, 1, "play", 1, 1, &reply));
    assert_false(reply.continues);
}

static void when_the_third_owner_leaves_the_test_is_paused(void **state) {
    (void)state;
    int64_t other = kit_claim(&kit, 3, 4, 0);
    kit_claim(&kit, 4, 4, 0);
    assert_int_equal(bench(task, 1, "new", 777), 0);
    assert_int_equal(bench(other, 3, "new", 778), 0);
    ledger_expire(&kit.turn);
    assert_false(is_paused_saying("", ""));
    kit_sql(&kit, "UPDATE workers SET last_seen = 0 WHERE id = 4");
    ledger_settle(&kit.turn);
    assert_true(is_paused_saying("777", "778"));
}

static void a_count_stands_alone_once_the_others_have_left(void **state) {
    (void)state;
    kit_claim(&kit, 3, 4, 0);
    assert_int_equal(bench(task, 1, "new", 777), 0);
    kit_sql(&kit, "UPDATE workers SET last_seen = 0 WHERE id = 3");
    ledger_settle(&kit.turn);
    assert_int_equal(kit_int(&kit, "SELECT bench FROM known_commits WHERE subject = 'new'"), 777);
}

static void machines_of_one_owner_that_differ_do_not_end_a_test_of_others(void **state) {
    (void)state;
    int64_t other = kit_claim(&kit, 3, 4, 0), second = kit_claim(&kit, 2, 4, 0);
    assert_int_equal(bench(task, 1, "new", 777), 0);
    assert_int_equal(bench(second, 2, "new", 778), 0);
    assert_true(reply.continues && kit_result_is(&kit, ""));
    assert_int_equal(bench(other, 3, "new", 777), 777);
    assert_true(kit_result_is(&kit, ""));
}

static void machines_of_the_only_owner_that_differ_pause_the_test(void **state) {
    (void)state;
    int64_t second = kit_claim(&kit, 2, 4, 0);
    kit_claim(&kit, 3, 4, 0);
    assert_int_equal(bench(task, 1, "new", 777), 0);
    kit_sql(&kit, "UPDATE workers SET last_seen = 0 WHERE id = 3");
    assert_int_equal(bench(second, 2, "new", 778), 0);
    assert_true(is_paused_saying("777", "778"));
}

static void unproven_owners_establish_no_count(void **state) {
    (void)state;
    kit_sql(&kit,
            "INSERT INTO vouches (owner, user_id, reason, created) VALUES ('user 1', 3, '', 1)");
    kit_sql(&kit, "UPDATE tasks SET level = 2");
    int64_t other = kit_claim(&kit, 3, 4, 0), third = kit_claim(&kit, 4, 4, 0);
    assert_int_equal(bench(other, 3, "new", 666), 0);
    assert_int_equal(bench(third, 4, "new", 666), 0);
    assert_int_equal(bench(task, 1, "new", 777), 777);
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM failures WHERE kind = 'bench'"), 2);
}

#define FRESH(test) cmocka_unit_test_setup_teardown(test, open_fresh, close_kit)
#define WITH_TASK(test) cmocka_unit_test_setup_teardown(test, open_task, close_kit)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_TASK(a_failed_build_of_the_only_owner_ends_the_test),
        WITH_TASK(a_failed_build_waits_for_another_owner_if_one_is_active),
        WITH_TASK(a_machine_alone_does_not_end_a_test_that_others_play),
        WITH_TASK(a_test_that_only_one_owner_has_played_is_paused_and_not_failed),
        WITH_TASK(an_owner_whose_machines_cannot_try_confirms_nothing),
        WITH_TASK(two_owners_who_played_and_cannot_any_more_end_the_test),
        FRESH(no_unproven_owner_ends_a_test),
        FRESH(if_a_vouched_owner_plays_other_owners_end_no_test),
        FRESH(owners_in_one_network_are_one),
        WITH_TASK(a_test_that_machines_failed_continues_with_its_results),
        FRESH(unproven_owners_establish_no_count),
        WITH_TASK(a_broken_machine_only_rests),
        WITH_TASK(a_failure_of_the_wrong_shape_is_refused),
        WITH_TASK(the_only_owner_establishes_a_bench),
        WITH_TASK(two_owners_establish_a_bench_together),
        WITH_TASK(two_counts_without_a_third_owner_pause_the_test),
        WITH_TASK(a_resumed_test_has_its_bench_measured_again),
        WITH_TASK(the_third_owner_decides),
        WITH_TASK(the_last_to_speak_may_be_the_outvoted_one),
        WITH_TASK(when_the_third_owner_leaves_the_test_is_paused),
        WITH_TASK(a_count_stands_alone_once_the_others_have_left),
        WITH_TASK(machines_of_one_owner_that_differ_do_not_end_a_test_of_others),
        WITH_TASK(machines_of_the_only_owner_that_differ_pause_the_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

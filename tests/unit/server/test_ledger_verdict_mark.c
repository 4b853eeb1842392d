// What people do to a verdict: exclusions before and after it, and reopening. An exclusion never
// reopens a test; a reopened test has every pair in one place; the mark says what was done.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/ledger/verdict_mark.h"
#include "tests/kit/ledger_kit.h"

static LedgerKit kit;
static BatchReply posted;
static Excluded changed;
static int64_t first, second; // tasks of machines 1 and 3

// An SPRT that a few won batches decide, with two tasks of two batches.
static int open_two(void **state) {
    (void)state;
    first = kit_open_task(&kit);
    kit_sql(&kit, "UPDATE tests SET parameters = json_set(parameters, '$.model', 'logistic', "
                  "'$.elo1', 130.0)");
    kit.turn.now += 1;
    second = kit_claim(&kit, 3, 4, 0);
    return first > 0 && second > 0 ? 0 : -1;
}

static int close_kit(void **state) {
    (void)state;
    kit_close(&kit);
    return 0;
}

static void later(void) {
    kit.turn.now += 1;
}

static void post(int64_t task, int64_t worker, int64_t seq, const char *outcomes) {
    later();
    assert_true(kit_post(&kit, task, worker, seq, outcomes, &posted));
}

static bool exclude(int64_t worker) {
    later();
    return kit_exclude(&kit, 1, worker, "all", &changed);
}

static bool include(int64_t worker) {
    later();
    return kit_include(&kit, 1, worker, &changed);
}

static bool reopen(void) {
    later();
    return ledger_test_reopen(&kit.turn, 1, 2, "the machine was overclocked", &kit.err);
}

// Machine 3 wins all: accepted after its second batch, while machine 1 has a batch to play.
static void accept_by_machine_3(void) {
    post(first, 1, 0, "1133");
    kit_sql(&kit, "UPDATE tasks SET due = due + 100 WHERE id = %lld", (long long)first);
    post(second, 3, 0, "4344");
    assert_true(kit_result_is(&kit, ""));
    post(second, 3, 1, "4434");
    assert_true(kit_result_is(&kit, "accepted"));
}

static void check_mark(bool turned, int64_t before, int64_t after, int64_t again,
                       const char *words) {
    json_auto_t *mark = verdict_mark(kit.db, 1);
    assert_true(json_is_object(mark));
    assert_int_equal(json_is_true(json_object_get(mark, "turned")), turned);
    assert_int_equal(member_int(mark, "excluded_before"), before);
    assert_int_equal(member_int(mark, "excluded_after"), after);
    assert_int_equal(member_int(mark, "included_after"), again);
    if (!strstr(member_text(mark, "text"), words))
        fail_msg("'%s' is not in: %s", words, member_text(mark, "text"));
    assert_int_equal(verdict_unturned(kit.db, 1, false, &kit.err), !turned);
    assert_true(verdict_unturned(kit.db, 1, true, &kit.err));
}

static size_t touched(double since) {
    json_auto_t *list = verdicts_touched(kit.db, since);
    return json_array_size(list);
}

// ---- marks --------------------------------------------------------------------------------------

static void an_exclusion_after_the_verdict_is_said_and_does_not_reopen_the_test(void **state) {
    (void)state;
    accept_by_machine_3();
    json_auto_t *none = verdict_mark(kit.db, 1);
    assert_true(json_is_null(none));
    assert_int_equal(touched(0), 0);
    assert_true(verdict_stands(kit.db, 1));
    assert_true(exclude(3));
    assert_true(kit_result_is(&kit, "accepted"));
    assert_false(verdict_stands(kit.db, 1));
    check_mark(true, 0, 8, 0, "8 pairs were excluded after the verdict.");
    check_mark(true, 0, 8, 0, "after 4 pairs: no verdict.");
    assert_int_equal(touched(kit.turn.now - 1), 1);
    assert_int_equal(touched(kit.turn.now), 0);
    assert_int_equal(kit_check(&kit), 0);
    later();
    assert_int_equal(kit_claim(&kit, 3, 4, 0), 0);
    assert_true(include(3));
    assert_true(verdict_stands(kit.db, 1));
    json_auto_t *gone = verdict_mark(kit.db, 1);
    assert_true(json_is_null(gone));
}

static void a_verdict_that_stands_without_them_may_be_merged(void **state) {
    (void)state;
    accept_by_machine_3();
    assert_true(exclude(1));
    assert_true(verdict_stands(kit.db, 1));
    check_mark(false, 0, 4, 0, "the verdict stands.");
}

// A machine lost, and a maintainer takes it out until the others suffice.
static void a_verdict_that_an_exclusion_brought_is_marked(void **state) {
    (void)state;
    post(first, 1, 0, "0010");
    kit_sql(&kit, "UPDATE tasks SET due = due + 100 WHERE id = %lld", (long long)first);
    post(second, 3, 0, "4344");
    post(second, 3, 1, "4434");
    assert_true(kit_result_is(&kit, ""));
    assert_true(exclude(1));
    assert_true(kit_result_is(&kit, "accepted"));
    check_mark(true, 4, 0, 0, "4 pairs were excluded when the verdict came.");
    assert_true(include(1)); // too late to hide it
    check_mark(true, 4, 0, 4, "4 pairs count again since the verdict.");
    assert_true(kit_result_is(&kit, "accepted"));
}

static void an_exclusion_in_force_at_the_verdict_is_marked(void **state) {
    (void)state;
    post(first, 1, 0, "0010");
    assert_true(exclude(1));
    kit_let_go(&kit);
    post(second, 3, 0, "4344");
    post(second, 3, 1, "4434");
    assert_true(kit_result_is(&kit, "accepted"));
    check_mark(true, 4, 0, 0, "4 pairs were excluded when the verdict came.");
    kit_sql(&kit, "UPDATE exclusions SET user_id = NULL"); // the server's, for no result
    json_auto_t *none = verdict_mark(kit.db, 1);
    assert_true(json_is_null(none));
}

static void what_was_taken_back_before_the_verdict_is_no_mark(void **state) {
    (void)state;
    post(first, 1, 0, "1133");
    assert_true(exclude(1) && include(1));
    kit_let_go(&kit);
    post(second, 3, 0, "4344");
    post(second, 3, 1, "4434");
    assert_true(kit_result_is(&kit, "accepted"));
    json_auto_t *none = verdict_mark(kit.db, 1);
    assert_true(json_is_null(none));
}

// ---- reopening ----------------------------------------------------------------------------------

static void a_verdict_that_stands_is_not_reopened(void **state) {
    (void)state;
    assert_false(reopen()); // it is open
    assert_string_equal(kit.err.code, "wrong_state");
    accept_by_machine_3();
    assert_false(reopen());
    assert_string_equal(kit.err.code, "wrong_state");
    assert_non_null(strstr(kit.err.message, "make its verdict, accepted"));
    assert_true(kit_result_is(&kit, "accepted"));
}

static void a_test_that_a_person_stopped_is_not_reopened(void **state) {
    (void)state;
    accept_by_machine_3();
    kit_sql(&kit, "UPDATE tests SET result = 'stopped'");
    assert_true(exclude(3));
    assert_false(reopen());
    assert_string_equal(kit.err.code, "wrong_state");
    json_auto_t *mark = verdict_mark(kit.db, 1);
    assert_false(json_is_true(json_object_get(mark, "turned")));
    assert_int_equal(touched(0), 0);
}

// Every pair that no batch reported is dealt again, and none twice: the audit sees both.
static void a_reopened_test_deals_what_was_not_played(void **state) {
    (void)state;
    accept_by_machine_3();
    post(first, 1, 1, "2222"); // after the verdict: stored, and its pairs are spent
    assert_string_equal(posted.uncounted, "late");
    int64_t dealt = kit_int(&kit, "SELECT next_pair FROM tests");
    assert_true(exclude(3));
    assert_true(reopen());
    assert_true(kit_result_is(&kit, ""));
    assert_int_equal(kit_check(&kit), 0);
    check_mark(true, 0, 0, 0, "Reopened by");
    check_mark(true, 0, 0, 0, "the machine was overclocked. Its verdict had been: accepted, LLR");
    assert_int_equal(
        kit_int(&kit, "SELECT count(*) FROM events WHERE type = 'reopened' AND user_id = 2"), 1);
    int64_t next = kit_claim(&kit, 2, 4, 0);
    assert_true(next > 0);
    assert_int_equal(kit_int(&kit, "SELECT first_pair FROM tasks WHERE id = %lld", (long long)next),
                     dealt);
    post(next, 2, 0, "4344");
    post(next, 2, 1, "4434");
    assert_true(kit_result_is(&kit, "accepted"));
    check_mark(true, 8, 0, 0, "Its verdict had been: accepted");
    assert_int_equal(kit_check(&kit), 0);
}

static void open_pairs_and_returned_ones_are_dealt_again(void **state) {
    (void)state;
    int64_t third = kit_claim(&kit, 2, 4, 0), lost = 0;
    lost = kit_int(&kit, "SELECT first_pair FROM tasks WHERE id = %lld", (long long)third);
    assert_true(ledger_release(&kit.turn, third, 2, 1, &kit.err)); // returned before the verdict
    accept_by_machine_3();                                         // one batch of machine 1 is open
    assert_true(exclude(3));
    assert_true(reopen());
    assert_int_equal(kit_check(&kit), 0);
    char *ranges scope(free_ptr) =
        kit_text(&kit, "SELECT group_concat(first_pair || '+' || pair_count) FROM "
                       "(SELECT * FROM returned_pairs ORDER BY first_pair)");
    char wanted[80];
    snprintf(wanted, sizeof wanted, "4+4,%lld+4,%lld+4", (long long)lost, (long long)lost + 4);
    assert_string_equal(ranges, wanted);
}

// It was played in time, and its place does not depend on its games.
static void a_batch_that_waited_at_the_verdict_counts(void **state) {
    (void)state;
    post(first, 1, 0, "1133");
    int64_t third = kit_claim(&kit, 2, 4, 0);
    kit_sql(&kit, "UPDATE tasks SET due = due + 100 WHERE id = %lld", (long long)first);
    kit_sql(&kit, "UPDATE tasks SET due = due + 200 WHERE id = %lld", (long long)third);
    post(third, 2, 0, "1111");
    assert_string_equal(posted.uncounted, "waits");
    post(second, 3, 0, "4344");
    post(second, 3, 1, "4434");
    assert_true(kit_result_is(&kit, "accepted"));
    assert_true(exclude(3) && reopen());
    ledger_count_waiting(&kit.turn);
    assert_int_equal(kit_int(&kit, "SELECT units_counted FROM tests"), 8);
    assert_int_equal(kit_check(&kit), 0);
}

static void a_reopened_test_takes_the_verdict_of_its_batches(void **state) {
    (void)state;
    post(first, 1, 0, "0101");
    kit_sql(&kit, "UPDATE tasks SET due = due + 100 WHERE id = %lld", (long long)first);
    post(second, 3, 0, "4444");
    post(second, 3, 1, "4444");
    kit_sql(&kit, "UPDATE tests SET state = 'finished', result = 'accepted', finished = %f",
            kit.turn.now);
    kit_sql(&kit, "UPDATE tests SET parameters = json_set(parameters, '$.elo1', 400.0)");
    assert_true(exclude(3));
    check_mark(true, 0, 8, 0, ": rejected.");
    assert_true(reopen());
    assert_true(kit_result_is(&kit, "rejected"));
    check_mark(true, 8, 0, 0, "Its verdict had been: accepted");
}

#define WITH_TWO(test) cmocka_unit_test_setup_teardown(test, open_two, close_kit)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_TWO(an_exclusion_after_the_verdict_is_said_and_does_not_reopen_the_test),
        WITH_TWO(a_verdict_that_stands_without_them_may_be_merged),
        WITH_TWO(a_verdict_that_an_exclusion_brought_is_marked),
        WITH_TWO(an_exclusion_in_force_at_the_verdict_is_marked),
        WITH_TWO(what_was_taken_back_before_the_verdict_is_no_mark),
        WITH_TWO(a_verdict_that_stands_is_not_reopened),
        WITH_TWO(a_test_that_a_person_stopped_is_not_reopened),
        WITH_TWO(a_reopened_test_deals_what_was_not_played),
        WITH_TWO(open_pairs_and_returned_ones_are_dealt_again),
        WITH_TWO(a_batch_that_waited_at_the_verdict_counts),
        WITH_TWO(a_reopened_test_takes_the_verdict_of_its_batches),
    };
    return cmocka_run_group_tests_name("ledger_verdict_mark", tests, NULL, NULL);
}

// Batches at fixed nodes that are played again on another machine: which ones, by whom, and what
// follows when the games differ.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "server/ledger/suspects.h"
#include "tests/kit/ledger_kit.h"

static LedgerKit kit;

static int set_up(void **state) {
    (void)state;
    if (!kit_open(&kit))
        return -1;
    kit_sql(&kit, "DELETE FROM settings WHERE name = 'rerun_percent'");
    kit_sql(&kit, "UPDATE sides SET tc = 'nodes=1000'");
    kit_sql(&kit, "UPDATE workers SET last_seen = 1000"); // their owners are active
    kit_activate(&kit, 1);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    kit_close(&kit);
    return 0;
}

// ---- playing ------------------------------------------------------------------------------------

static bool same_first, same_second;

static bool post(int64_t task, int64_t worker, BatchReply *reply) {
    json_auto_t *result = kit_result("1322");
    Batch batch = kit_batch(task, worker, 0, result);
    batch.tc = "nodes=1000";
    batch.load = LOAD_UNKNOWN;
    batch.rerun.compared = true;
    batch.rerun.same_first = same_first;
    batch.rerun.same_second = same_second;
    snprintf(batch.rerun.difference, sizeof batch.rerun.difference, "%s", "e2e4 and d2d4");
    if (!ledger_batch(&kit.turn, &batch, reply, &kit.err))
        fail_msg("batch of machine %d: %s", (int)worker, kit.err.message);
    return reply->counted;
}

// A task of work that counts: reruns are put aside while it is claimed.
static void play(int64_t worker) {
    BatchReply reply;
    kit_sql(&kit, "UPDATE reruns SET test_id = 0 - test_id WHERE state IN ('due', 'third')");
    int64_t task = kit_claim(&kit, worker, 4, 0);
    kit_sql(&kit, "UPDATE reruns SET test_id = abs(test_id)");
    assert_true(task > 0);
    assert_true(post(task, worker, &reply));
    assert_true(ledger_release(&kit.turn, task, worker, 0, &kit.err));
}

// Claims where the test has no pairs left that could count. 0: there is no rerun for the machine.
static int64_t claim_rerun(int64_t worker) {
    kit_sql(&kit, "UPDATE tests SET pairs_max = units_counted");
    int64_t task = kit_claim(&kit, worker, 4, 0);
    kit_sql(&kit, "UPDATE tests SET pairs_max = 400000");
    assert_true(task >= 0);
    if (task)
        assert_int_equal(kit_int(&kit, "SELECT rerun_of IS NOT NULL FROM tasks WHERE id = %lld",
                                 (long long)task),
                         1);
    return task;
}

static void rerun(int64_t worker, bool first, bool second) {
    BatchReply reply;
    int64_t task = claim_rerun(worker);
    assert_true(task > 0);
    same_first = first;
    same_second = second;
    assert_false(post(task, worker, &reply));
}

static int64_t count(const char *state) {
    return kit_int(&kit, "SELECT count(*) FROM reruns WHERE state = '%s'", state);
}

static int64_t good(const char *owner) {
    return kit_int(&kit, "SELECT good FROM rerun_runs WHERE owner = '%s'", owner);
}

static void is_of_class(int64_t worker, const char *compiler) {
    kit_sql(&kit, "UPDATE workers SET host = '{\"compilers\": [\"%s\"]}' WHERE id = %lld", compiler,
            (long long)worker);
}

static bool is_suspected(int64_t worker) {
    char *text scope(free_ptr) = suspects_evidence(kit.db, kit.turn.now, worker);
    return strstr(text, "1 batch with other games than two further machines played") != NULL;
}

// ---- which batches ------------------------------------------------------------------------------

static void the_first_ten_batches_of_an_owner_are_played_again(void **state) {
    (void)state;
    for (int i = 0; i < 10; i++) {
        play(1);
        assert_int_equal(count("due"), 1);
        rerun(3, true, false);
    }
    assert_int_equal(count("same"), 10);
    assert_int_equal(good("user 1"), 10);
    kit_sql(&kit, "UPDATE rerun_runs SET good = 1000000000 WHERE owner = 'user 1'");
    for (int i = 0; i < 20; i++)
        play(1);
    assert_int_equal(count("due"), 0); // with probability 1/n after n good ones
    kit_sql(&kit, "UPDATE rerun_runs SET good = 1 WHERE owner = 'user 1'");
    play(1);
    assert_int_equal(count("due"), 1);
}

static void a_batch_is_chosen_by_chance_after_many_good_ones(void **state) {
    (void)state;
    play(1);
    kit_sql(&kit, "UPDATE reruns SET state = 'same'");
    int chosen = 0;
    for (int i = 0; i < 200; i++) {
        kit_sql(&kit, "UPDATE rerun_runs SET batches = 10, good = 4");
        play(1);
        chosen += count("due") > 0;
        kit_sql(&kit, "UPDATE reruns SET state = 'same'");
    }
    assert_in_range(chosen, 15, 100); // 50 are expected, with a deviation of 6
}

static void few_batches_of_an_owner_wait_at_one_time(void **state) {
    (void)state;
    for (int i = 0; i < 14; i++)
        play(1);
    assert_int_equal(count("due"), 10);
    play(3);
    assert_int_equal(count("due"), 11); // another owner's
}

static void games_with_a_clock_are_not_played_again(void **state) {
    (void)state;
    BatchReply reply;
    kit_sql(&kit, "UPDATE sides SET threads = 2 WHERE side = 'base'"); // do not repeat either
    int64_t task = kit_claim(&kit, 1, 4, 0);
    assert_true(post(task, 1, &reply));
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM reruns"), 0);
}

// ---- by whom ------------------------------------------------------------------------------------

static void another_owner_plays_it_again_and_it_does_not_count(void **state) {
    (void)state;
    BatchReply reply;
    play(1);
    assert_int_equal(claim_rerun(1), 0);
    assert_int_equal(claim_rerun(2), 0); // of the same owner
    int64_t units = kit_int(&kit, "SELECT units_counted FROM tests"), task = claim_rerun(3);
    assert_true(task > 0);
    assert_int_equal(kit_int(&kit, "SELECT first_pair FROM tasks WHERE id = %lld", (long long)task),
                     0);
    assert_int_equal(kit_int(&kit, "SELECT pair_count FROM tasks WHERE id = %lld", (long long)task),
                     4);
    assert_int_equal(claim_rerun(4), 0); // one machine at a time
    assert_int_equal(kit_check(&kit), 0);
    same_first = true;
    assert_false(post(task, 3, &reply));
    assert_int_equal(kit_int(&kit, "SELECT units_counted FROM tests"), units);
    assert_int_equal(kit_int(&kit, "SELECT games FROM workers WHERE id = 3"), 8); // credited
    assert_int_equal(good("user 1"), 1);
    assert_int_equal(kit_check(&kit), 0);
}

static void an_owner_alone_checks_itself_on_another_machine(void **state) {
    (void)state;
    kit_sql(&kit, "UPDATE workers SET last_seen = 0 WHERE id > 2");
    play(1);
    assert_int_equal(claim_rerun(1), 0);
    rerun(2, true, false);
    assert_int_equal(count("same"), 1);
}

static void a_rerun_that_is_not_finished_goes_to_another_machine(void **state) {
    (void)state;
    play(1);
    int64_t task = claim_rerun(3);
    assert_true(ledger_release(&kit.turn, task, 3, 4, &kit.err));
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM returned_pairs WHERE first_pair = 0"), 0);
    assert_int_equal(claim_rerun(3), 0);
    rerun(4, true, false);
    assert_int_equal(kit_check(&kit), 0);
}

static void a_less_trusted_owner_does_not_check_a_more_trusted_one(void **state) {
    (void)state;
    play(1);
    assert_int_equal(kit_int(&kit, "SELECT level FROM reruns"), 2);
    kit_sql(&kit, "INSERT INTO settings VALUES ('trust', 'public')");
    assert_int_equal(claim_rerun(4), 0);
    kit_sql(&kit, "UPDATE reruns SET level = 0");
    assert_true(claim_rerun(4) > 0);
}

static void it_comes_after_the_work_of_tests_but_for_some_claims(void **state) {
    (void)state;
    int reruns = 0;
    play(1);
    for (int i = 0; i < 200; i++) {
        int64_t task = kit_claim(&kit, 3, 4, 0);
        assert_true(task > 0);
        reruns += (int)kit_int(&kit, "SELECT rerun_of IS NOT NULL FROM tasks WHERE id = %lld",
                               (long long)task);
        kit_sql(&kit, "DELETE FROM tasks WHERE rerun_of IS NOT NULL");
        kit_sql(&kit, "UPDATE tasks SET state = 'released', finished = 1000 WHERE state = 'open'");
        kit_sql(&kit, "UPDATE workers SET fruitless = 0, rest_until = 0");
        kit_sql(&kit, "UPDATE tests SET next_pair = 4");
    }
    assert_in_range(reruns, 1, 60); // 20 are expected, with a deviation of 4
}

// The rerun is due before the batch, and hangs.
static void a_batch_does_not_wait_for_a_rerun(void **state) {
    (void)state;
    BatchReply reply;
    play(1);
    int64_t hangs = claim_rerun(3);
    kit.turn.now += 1;
    int64_t task = kit_claim(&kit, 2, 4, 0);
    assert_true(hangs > 0 && task > 0);
    assert_int_equal(kit_int(&kit,
                             "SELECT (SELECT due FROM tasks WHERE id = %lld) < (SELECT due "
                             "FROM tasks WHERE id = %lld)",
                             (long long)hangs, (long long)task),
                     1);
    assert_true(post(task, 2, &reply));
    assert_string_equal(reply.uncounted, "");
    assert_false(post(hangs, 3, &reply));
    assert_string_equal(reply.uncounted, "rerun");
}

// ---- games that differ --------------------------------------------------------------------------

static void a_third_machine_settles_it_for_the_first(void **state) {
    (void)state;
    play(1);
    rerun(3, false, false);
    assert_int_equal(count("third"), 1);
    assert_false(is_suspected(3));
    assert_int_equal(claim_rerun(3), 0);
    rerun(4, true, false);
    assert_int_equal(count("second"), 1);
    assert_true(is_suspected(3) && !is_suspected(1) && !is_suspected(4));
    assert_int_equal(good("user 1"), 1);
    assert_int_equal(good("user 2"), 0);
    char *said scope(free_ptr) =
        kit_text(&kit, "SELECT max(message) FROM events WHERE type = 'rerun' AND worker_id = 3");
    assert_non_null(strstr(said, "machine 3 is alone"));
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM exclusions"), 0);
    assert_int_equal(kit_check(&kit), 0);
}

static void a_third_machine_settles_it_against_the_first(void **state) {
    (void)state;
    kit_sql(&kit, "INSERT INTO rerun_runs (owner, batches, good) VALUES ('user 1', 50, 40)");
    for (int i = 0; count("due") == 0 && i < 100000; i++)
        play(1);
    rerun(3, false, false);
    rerun(4, false, true);
    assert_int_equal(count("first"), 1);
    assert_true(is_suspected(1) && !is_suspected(3) && !is_suspected(4));
    assert_int_equal(good("user 1"), 0);
    play(1);
    assert_int_equal(count("due"), 1); // the next ten are played again
}

static void classes_that_differ_name_the_patch(void **state) {
    (void)state;
    is_of_class(3, "clang 14");
    play(1);
    rerun(3, false, false);
    is_of_class(4, "clang 14");
    assert_int_equal(claim_rerun(4), 0); // the third is of the class of the first
    is_of_class(4, "unknown compiler");
    rerun(4, true, false);
    assert_int_equal(count("patch"), 1);
    assert_false(is_suspected(1) || is_suspected(3) || is_suspected(4));
    assert_int_equal(good("user 1"), 1);
}

static void a_machine_cannot_hide_behind_a_class_of_its_own(void **state) {
    (void)state;
    is_of_class(1, "a compiler of its own");
    play(1);
    rerun(3, false, false);
    assert_int_equal(claim_rerun(4), 0);
    assert_int_equal(count("third"), 1); // it stays on the page of the test
}

static void a_late_answer_of_another_class_settles_nothing(void **state) {
    (void)state;
    BatchReply reply;
    play(1);
    int64_t late = claim_rerun(3);
    assert_true(ledger_release(&kit.turn, late, 3, 4, &kit.err));
    rerun(4, false, false);
    is_of_class(3, "clang 14");
    assert_false(post(late, 3, &reply));
    assert_int_equal(count("third"), 1);
}

static void an_operator_can_do_without(void **state) {
    (void)state;
    play(1);
    kit_sql(&kit, "INSERT INTO settings VALUES ('rerun_percent', '0')");
    assert_int_equal(claim_rerun(3), 0);
    play(1);
    assert_int_equal(count("due"), 1);
    assert_false(ledger_retest(&kit.turn, 1, 2, "", &kit.err));
    assert_string_equal(kit.err.code, "no_reruns");
}

static void games_that_do_not_repeat_name_the_patch(void **state) {
    (void)state;
    play(1);
    rerun(3, false, false);
    rerun(4, false, false);
    assert_int_equal(count("patch"), 1);
    assert_false(is_suspected(1) || is_suspected(3) || is_suspected(4));
    assert_int_equal(good("user 1"), 0);
}

// ---- a re-test ----------------------------------------------------------------------------------

static void a_retest_begins_with_ten_batches_again(void **state) {
    (void)state;
    kit_sql(&kit, "INSERT INTO rerun_runs (owner, batches, good) "
                  "VALUES ('user 1', 1000000, 1000000000), ('user 2', 1000000, 1000000000)");
    play(1);
    assert_int_equal(count("due"), 0);
    assert_true(ledger_retest(&kit.turn, 2, 2, "odd games", &kit.err));
    for (int i = 0; i < 10; i++) {
        play(1); // of the same owner
        assert_int_equal(count("due"), 1);
        rerun(3, true, false);
    }
    assert_int_equal(good("user 1"), 10);
    play(3);
    assert_int_equal(count("due"), 0); // another owner goes on
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM events WHERE type = 'retest' AND "
                                   "worker_id = 2 AND message LIKE '%%: odd games. It is "
                                   "suspected of nothing'"),
                     1);
    assert_int_equal(kit_check(&kit), 0);
}

static void batches_of_a_retested_owner_come_first(void **state) {
    (void)state;
    play(3);
    play(1);
    assert_true(ledger_retest(&kit.turn, 1, 2, "", &kit.err));
    int64_t task = claim_rerun(4);
    assert_int_equal(kit_int(&kit,
                             "SELECT r.worker_id FROM tasks k JOIN reruns r "
                             "ON r.batch_id = k.rerun_of WHERE k.id = %lld",
                             (long long)task),
                     1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_first_ten_batches_of_an_owner_are_played_again),
        TEST(a_batch_is_chosen_by_chance_after_many_good_ones),
        TEST(few_batches_of_an_owner_wait_at_one_time),
        TEST(games_with_a_clock_are_not_played_again),
        TEST(another_owner_plays_it_again_and_it_does_not_count),
        TEST(an_owner_alone_checks_itself_on_another_machine),
        TEST(a_rerun_that_is_not_finished_goes_to_another_machine),
        TEST(a_less_trusted_owner_does_not_check_a_more_trusted_one),
        TEST(it_comes_after_the_work_of_tests_but_for_some_claims),
        TEST(a_batch_does_not_wait_for_a_rerun),
        TEST(a_third_machine_settles_it_for_the_first),
        TEST(a_third_machine_settles_it_against_the_first),
        TEST(classes_that_differ_name_the_patch),
        TEST(a_machine_cannot_hide_behind_a_class_of_its_own),
        TEST(a_late_answer_of_another_class_settles_nothing),
        TEST(an_operator_can_do_without),
        TEST(games_that_do_not_repeat_name_the_patch),
        TEST(a_retest_begins_with_ten_batches_again),
        TEST(batches_of_a_retested_owner_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

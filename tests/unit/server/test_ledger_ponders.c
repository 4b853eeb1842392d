// A side that computes in its opponent's time: when the reports of machines end the test.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/kit/ledger_kit.h"

// Batches have 8 games. Machines 1 and 2 are ada's, 3 is ben's, 4 is nobody's.
static LedgerKit kit;

// Machine 1 gets the first task before a test begins; here it gives it back.
static int open_alike(void **state) {
    (void)state;
    int64_t task = kit_open_task(&kit);
    kit_sql(&kit, "UPDATE tasks SET state = 'released', finished = 1 WHERE id = %lld",
            (long long)task);
    return task > 0 ? 0 : -1;
}

static int open_vouched(void **state) {
    int status = open_alike(state);
    kit_earn(&kit);
    kit_sql(&kit, "INSERT INTO vouches (owner, user_id, reason, created) VALUES ('user 1', 3, '', "
                  "1), ('user 2', 3, '', 1)");
    return status;
}

static int close_kit(void **state) {
    (void)state;
    kit_close(&kit);
    return 0;
}

// The machine plays batches, in each of which side new, or the base, is reported for `shown` games.
static void play(int64_t worker, int batches, int shown, bool base) {
    int64_t task = 0, seq = 0, last = 0;
    for (int i = 0; i < batches; i++, seq++) {
        BatchReply reply;
        char members[80];
        if (seq == last) {
            seq = 0;
            task = kit_claim(&kit, worker, 4, 0);
            last =
                kit_int(&kit, "SELECT pair_count / 4 FROM tasks WHERE id = %lld", (long long)task);
        }
        snprintf(members, sizeof members, "{\"%s\": %d}", base ? "ponders_against" : "ponders",
                 shown);
        json_auto_t *result = kit_result_with("0044", members);
        Batch batch = kit_batch(task, worker, seq, result);
        if (!ledger_batch(&kit.turn, &batch, &reply, &kit.err))
            fail_msg("batch %d of machine %d: %s", i, (int)worker, kit.err.message);
    }
    kit_let_go(&kit);
}

static bool is_open(void) {
    return kit_result_is(&kit, "") && kit_int(&kit, "SELECT state = 'active' FROM tests");
}

static void two_owners_that_show_it_end_the_test(void **state) {
    (void)state;
    play(1, 3, 4, false);
    play(3, 1, 4, false);
    assert_true(is_open()); // 16 games
    play(3, 1, 4, false);
    assert_true(kit_result_is(&kit, "failed"));
    char *reason scope(free_ptr) = kit_text(&kit, "SELECT reason FROM tests");
    assert_string_equal(reason, "side new computes in its opponent's time: 20 of 40 games show it");
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM tasks WHERE state = 'open'"), 0);
    assert_int_equal(kit_check(&kit), 0);
}

static void the_base_is_named_as_well(void **state) {
    (void)state;
    play(1, 3, 4, true);
    play(3, 2, 4, true);
    char *reason scope(free_ptr) = kit_text(&kit, "SELECT reason FROM tests");
    assert_non_null(strstr(reason, "side base computes in its opponent's time: 20 of 40"));
}

static void one_owner_waits_for_another_that_can_confirm_it(void **state) {
    (void)state;
    kit_heartbeat(&kit, kit_claim(&kit, 3, 4, 0), 3, "fetch", 0, 0, &(TaskReply){0});
    play(1, 8, 4, false);
    play(2, 8, 4, false); // the same owner's
    assert_true(is_open());
}

static void one_owner_alone_ends_it(void **state) {
    (void)state;
    play(1, 5, 4, false);
    assert_true(kit_result_is(&kit, "failed"));
}

static void less_than_a_hundredth_of_the_games_ends_nothing(void **state) {
    (void)state;
    play(1, 10, 1, false);
    play(1, 130, 0, false);
    play(3, 130, 0, false);
    play(3, 9, 1, false);
    assert_true(is_open());
    play(3, 1, 1, false); // 20 of 2,240 games
    assert_true(is_open());
}

static void an_owner_whose_games_would_show_it_contradicts(void **state) {
    (void)state;
    play(4, 20, 0, false);
    play(1, 5, 4, false);
    play(4, 20, 0, false);
    kit.turn.now += 3600; // that owner has left
    play(1, 5, 4, false); // of its 320 games, 32 should show it
    assert_true(is_open());
}

static void unproven_machines_end_nothing_that_vouched_owners_play(void **state) {
    (void)state;
    kit_sql(&kit, "DELETE FROM vouches WHERE owner = 'user 2'");
    play(1, 10, 0, false);
    play(3, 10, 4, false);
    play(4, 10, 4, false);
    assert_true(is_open());
}

static void unproven_machines_pause_it_at_most(void **state) {
    (void)state;
    kit_earn(&kit);
    play(3, 3, 4, false);
    play(4, 2, 4, false);
    assert_true(kit_result_is(&kit, ""));
    char *reason scope(free_ptr) =
        kit_text(&kit, "SELECT reason FROM tests WHERE state = 'paused'");
    assert_string_equal(reason, "Paused: side new computes in its opponent's time: 20 of 40 games "
                                "show it, and no owner that is vouched for is "
                                "here to confirm that");
}

static void what_was_seen_before_a_test_was_resumed_is_not_counted(void **state) {
    (void)state;
    play(1, 3, 4, false);
    play(3, 2, 4, false);
    kit.turn.now += 10;
    assert_true(ledger_test_resume(&kit.turn, 1, 2, &kit.err));
    kit.turn.now += 10;
    play(1, 3, 4, false);
    play(3, 1, 4, false);
    assert_true(is_open());
    play(3, 1, 4, false);
    assert_true(kit_result_is(&kit, "failed"));
}

static void excluded_batches_are_not_counted(void **state) {
    (void)state;
    play(1, 3, 4, false);
    kit_sql(&kit, "INSERT INTO exclusions (test_id, kind, since, until, which, reason, created) "
                  "VALUES (1, 'window', 0, 1e12, 'all', '', 1)");
    play(3, 2, 4, false);
    assert_true(is_open());
}

#define TEST(name, setup) cmocka_unit_test_setup_teardown(name, setup, close_kit)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(two_owners_that_show_it_end_the_test, open_vouched),
        TEST(the_base_is_named_as_well, open_vouched),
        TEST(one_owner_waits_for_another_that_can_confirm_it, open_vouched),
        TEST(one_owner_alone_ends_it, open_vouched),
        TEST(less_than_a_hundredth_of_the_games_ends_nothing, open_vouched),
        TEST(an_owner_whose_games_would_show_it_contradicts, open_alike),
        TEST(unproven_machines_end_nothing_that_vouched_owners_play, open_vouched),
        TEST(unproven_machines_pause_it_at_most, open_alike),
        TEST(what_was_seen_before_a_test_was_resumed_is_not_counted, open_vouched),
        TEST(excluded_batches_are_not_counted, open_vouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Tasks: who gets which pairs, what heartbeats, leases, releases and restarts do to them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "tests/kit/ledger_kit.h"

static LedgerKit kit;
static TaskReply reply;
static BatchReply posted;

static int open_kit(void **state) {
    (void)state;
    return kit_open(&kit) ? 0 : -1;
}

static int open_active(void **state) {
    if (open_kit(state))
        return -1;
    kit_activate(&kit, 1);
    kit_sql(&kit, "INSERT INTO settings VALUES ('task_seconds', '155')"); // five games a core
    return 0;
}

static int close_kit(void **state) {
    (void)state;
    kit_close(&kit);
    return 0;
}

static int64_t first_of(int64_t task) {
    return kit_int(&kit, "SELECT first_pair FROM tasks WHERE id = %lld", (long long)task);
}

static int64_t pairs_of(int64_t task) {
    return kit_int(&kit, "SELECT pair_count FROM tasks WHERE id = %lld", (long long)task);
}

static bool state_is(int64_t task, const char *word) {
    char *text scope(free_ptr) =
        kit_text(&kit, "SELECT state FROM tasks WHERE id = %lld", (long long)task);
    return text && strcmp(text, word) == 0;
}

static void a_test_that_nobody_approved_gives_no_work(void **state) {
    (void)state;
    assert_int_equal(kit_claim(&kit, 1, 4, 0), 0);
}

static void tasks_are_whole_batches_and_follow_each_other(void **state) {
    (void)state;
    int64_t a = kit_claim(&kit, 1, 4, 0), b = kit_claim(&kit, 3, 4, 0);
    assert_true(a > 0 && b > a);
    assert_int_equal(first_of(a), 0);
    assert_int_equal(pairs_of(a), 8); // 4 slots of 5 games are 10 pairs, rounded down to batches
    assert_int_equal(first_of(b), 8);
    assert_int_equal(kit_int(&kit, "SELECT next_pair FROM tests"), 16);
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM events WHERE type = 'started'"), 1);
}

static void the_same_key_gets_the_same_task(void **state) {
    (void)state;
    json_auto_t *speeds = json_object();
    Claim claim = {.worker = 1, .cores = 4, .memory_mib = 4096, .speeds = speeds, .key = "key-x"};
    claim.request_hash = "hash";
    assert_true(ledger_claim_begin(&kit.turn, &claim, &kit.err));
    int64_t task = ledger_claim(&kit.turn, &claim, &kit.err);
    assert_true(ledger_claim_begin(&kit.turn, &claim, &kit.err));
    assert_int_equal(ledger_claim(&kit.turn, &claim, &kit.err), task);
    assert_true(state_is(task, "open"));
    claim.request_hash = "other";
    assert_false(ledger_claim_begin(&kit.turn, &claim, &kit.err));
    assert_string_equal(kit.err.code, "idempotency_conflict");
}

static void a_claim_gives_back_what_the_worker_forgot(void **state) {
    (void)state;
    int64_t a = kit_claim(&kit, 1, 4, 0);
    assert_true(kit_heartbeat(&kit, a, 1, "play", 10, 3, &reply));
    kit_sql(&kit, "UPDATE workers SET last_seen = 1000 WHERE id = 3");
    int64_t b = kit_claim(&kit, 1, 4, 0);
    assert_true(state_is(a, "released"));
    // The first batch was begun and is for another owner; the second goes out again, whole.
    assert_int_equal(first_of(b), 4);
    assert_int_equal(pairs_of(b), 4);
    assert_int_equal(first_of(kit_claim(&kit, 3, 4, 0)), 0);
    assert_int_equal(kit_check(&kit), 0);
}

static void an_owner_alone_is_dealt_again_what_it_began(void **state) {
    (void)state;
    int64_t a = kit_claim(&kit, 1, 4, 0);
    assert_true(ledger_release(&kit.turn, a, 1, pairs_of(a), &kit.err));
    assert_int_equal(first_of(kit_claim(&kit, 1, 4, 0)), 0);
    assert_int_equal(kit_check(&kit), 0);
}

// The first batch of 8 games on 4 slots takes 62 s: it may take ten minutes more than all that
// comes before it.
static void plies_without_batches_hold_a_task_for_about_an_hour(void **state) {
    (void)state;
    double begun = kit.turn.now;
    int64_t a = kit_claim(&kit, 1, 4, 0), plies = 1;
    assert_true(kit_heartbeat(&kit, a, 1, "build", 0, 0, &reply));
    while (reply.continues && kit.turn.now < begun + 86400) {
        kit.turn.now += 60;
        ledger_expire(&kit.turn);
        assert_true(kit_heartbeat(&kit, a, 1, "play", plies++, 8, &reply));
    }
    assert_string_equal(reply.why, "expired");
    assert_in_range((int64_t)(kit.turn.now - begun), 3600, 2 * 3600);
    kit_sql(&kit, "UPDATE workers SET last_seen = 1e6 WHERE id = 3");
    assert_int_equal(first_of(kit_claim(&kit, 3, 4, 0)), 0);
}

static void each_batch_gives_time_for_the_next(void **state) {
    (void)state;
    int64_t a = kit_claim(&kit, 1, 8, 0); // 5 batches
    assert_true(kit_heartbeat(&kit, a, 1, "play", 0, 0, &reply));
    for (int64_t seq = 0, plies = 1; seq < 5; seq++)
        for (int minute = 0; minute < 5; minute++) {
            kit.turn.now += 60;
            ledger_expire(&kit.turn);
            assert_true(kit_heartbeat(&kit, a, 1, "play", plies++, 1, &reply));
            assert_true(reply.continues);
            if (minute == 4)
                assert_true(kit_post(&kit, a, 1, seq, "2222", &posted));
        }
    assert_true(state_is(a, "done"));
}

static void a_machine_without_results_waits_longer_and_longer(void **state) {
    (void)state;
    double waited = 0;
    for (int i = 0; i < 20; i++) {
        double rest = ledger_rest_s(&kit.turn, 1);
        assert_true(rest <= 900 && (i < 4 ? rest < 1 : rest >= waited));
        if (rest > 0) {
            assert_int_equal(kit_claim(&kit, 1, 4, 0), -1);
            assert_string_equal(kit.err.code, "wait");
        }
        kit.turn.now += waited = rest;
        int64_t task = kit_claim(&kit, 1, 4, 0);
        assert_true(task > 0);
        assert_true(ledger_release(&kit.turn, task, 1, 0, &kit.err));
    }
    kit.turn.now += 900;
    assert_true(kit_post(&kit, kit_claim(&kit, 1, 4, 0), 1, 0, "2222", &posted));
    kit_claim(&kit, 1, 4, 0);
    kit_claim(&kit, 1, 4, 0);
    assert_true(kit_claim(&kit, 1, 4, 0) > 0);
}

static void a_machine_has_the_cores_that_it_registered(void **state) {
    (void)state;
    kit_sql(&kit, "INSERT INTO settings VALUES ('trust', 'public')");
    kit_sql(&kit, "UPDATE tests SET units_counted = 100000"); // of vouched owners
    kit_sql(&kit, "UPDATE workers SET host = '{\"logical_cores\": 6}' WHERE id = 1");
    int64_t a = kit_claim(&kit, 1, 4096, 0);
    assert_int_equal(kit_int(&kit, "SELECT cores FROM tasks WHERE id = %lld", (long long)a), 6);
    assert_int_equal(kit_int(&kit, "SELECT cores FROM workers WHERE id = 1"), 6);
    assert_int_equal(kit_int(&kit, "SELECT counted_cores FROM tasks WHERE id = %lld", (long long)a),
                     2);
}

static void only_proven_owners_hold_many_tasks(void **state) {
    (void)state;
    kit_sql(&kit, "INSERT INTO settings VALUES ('trust', 'public')");
    kit_sql(&kit, "UPDATE tests SET units_counted = 100000"); // of vouched owners
    int64_t a = kit_claim(&kit, 1, 8, 0);
    assert_int_equal(kit_claim(&kit, 1, 8, a), 0);
    assert_true(kit_post(&kit, a, 1, 0, "2222", &posted));
    assert_true(kit_claim(&kit, 1, 8, a) > 0);
    kit_sql(&kit, "INSERT INTO records VALUES ('user 1', 1)");
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM tasks WHERE state = 'open'"), 2);
    assert_true(kit_claim(&kit, 2, 8, 0) > 0); // the same owner's other machine
}

static void a_claim_keeps_what_the_worker_still_holds(void **state) {
    (void)state;
    int64_t a = kit_claim(&kit, 1, 4, 0);
    kit_claim(&kit, 1, 4, a);
    assert_true(state_is(a, "open"));
}

static void a_task_without_a_heartbeat_expires_after_half_a_minute(void **state) {
    (void)state;
    int64_t a = kit_claim(&kit, 1, 4, 0);
    kit.turn.now += 29;
    ledger_expire(&kit.turn);
    assert_true(state_is(a, "open"));
    kit.turn.now += 2;
    ledger_expire(&kit.turn);
    assert_true(state_is(a, "expired"));
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM events WHERE type = 'expired'"), 1);
    assert_int_equal(first_of(kit_claim(&kit, 3, 4, 0)), 0);
}

static void more_tasks_than_one_turn_takes_expire_in_the_next(void **state) {
    (void)state;
    kit_sql(&kit,
            "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1005) "
            "INSERT INTO tasks (test_id, worker_id, first_pair, pair_count, side, against, cores, "
            "lease_until, created) SELECT 1, 1, 4000 + 4 * i, 4, 'new', 'base', 1, 1, 1 FROM n");
    ledger_expire(&kit.turn);
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM tasks WHERE state = 'expired'"), 1000);
    ledger_expire(&kit.turn);
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM tasks WHERE state = 'expired'"), 1005);
}

static void a_task_that_cannot_expire_stays_as_it_was(void **state) {
    (void)state;
    int64_t a = kit_claim(&kit, 1, 4, 0);
    kit_sql(&kit, "INSERT INTO returned_pairs VALUES (1, 0, 4, '')"); // damage: they are dealt
    kit.turn.now += 31;
    ledger_expire(&kit.turn);
    assert_true(state_is(a, "open"));
    kit_sql(&kit, "DELETE FROM returned_pairs");
    ledger_expire(&kit.turn);
    assert_true(state_is(a, "expired"));
    assert_int_equal(kit_check(&kit), 0);
}

static void more_plies_renew_a_lease_and_the_same_plies_do_not(void **state) {
    (void)state;
    int64_t a = kit_claim(&kit, 1, 4, 0);
    assert_true(kit_heartbeat(&kit, a, 1, "play", 10, 1, &reply));
    assert_true(reply.continues);
    kit.turn.now += 200;
    assert_true(kit_heartbeat(&kit, a, 1, "play", 10, 1, &reply));
    assert_true(reply.lease_s <= 100);
    assert_true(kit_heartbeat(&kit, a, 1, "play", 11, 1, &reply));
    assert_int_equal((int)reply.lease_s, 300);
}

static void building_has_a_limit_that_beats_do_not_move(void **state) {
    (void)state;
    int64_t a = kit_claim(&kit, 1, 4, 0);
    assert_true(kit_heartbeat(&kit, a, 1, "build", 0, 0, &reply));
    assert_int_equal((int)reply.lease_s, 1800);
    kit.turn.now += 1000;
    assert_true(kit_heartbeat(&kit, a, 1, "build", 0, 0, &reply));
    assert_int_equal((int)reply.lease_s, 800);
    assert_true(kit_heartbeat(&kit, a, 1, "fetch", 0, 0, &reply));
    assert_int_equal((int)reply.lease_s, 800);
}

static void a_long_clock_makes_a_long_lease(void **state) {
    (void)state;
    kit_sql(&kit, "UPDATE sides SET tc = '60+0.6'"); // 2 x 2 x (60 + 300 x 0.6) = 960 s
    int64_t a = kit_claim(&kit, 1, 4, 0);
    assert_true(kit_heartbeat(&kit, a, 1, "play", 1, 0, &reply));
    assert_int_equal((int)reply.lease_s, 960);
}

static void a_release_gives_back_what_was_begun_and_what_was_not(void **state) {
    (void)state;
    int64_t a = kit_claim(&kit, 1, 8, 0); // 20 pairs
    assert_int_equal(pairs_of(a), 20);
    assert_true(ledger_release(&kit.turn, a, 1, 5, &kit.err));
    assert_true(ledger_release(&kit.turn, a, 1, 5, &kit.err)); // again
    char *ranges scope(free_ptr) =
        kit_text(&kit, "SELECT group_concat(first_pair || '+' || pair_count || owner) FROM "
                       "returned_pairs");
    assert_string_equal(ranges, "0+8user 1,8+12");
    assert_int_equal(kit_check(&kit), 0);
    assert_true(kit_heartbeat(&kit, a, 1, "play", 1, 0, &reply));
    assert_false(reply.continues);
    assert_string_equal(reply.why, "released");
}

static void ranges_that_touch_are_joined(void **state) {
    (void)state;
    int64_t a = kit_claim(&kit, 1, 4, 0), b = kit_claim(&kit, 2, 4, 0),
            c = kit_claim(&kit, 2, 4, b);
    assert_true(ledger_release(&kit.turn, a, 1, 8, &kit.err));
    assert_true(ledger_release(&kit.turn, c, 2, 8, &kit.err));
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM returned_pairs"), 2);
    assert_true(ledger_release(&kit.turn, b, 2, 8, &kit.err));
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM returned_pairs"), 1);
    assert_int_equal(kit_int(&kit, "SELECT pair_count FROM returned_pairs"), 24);
    assert_int_equal(pairs_of(kit_claim(&kit, 3, 8, 0)), 20);
}

static void a_task_of_another_machine_is_refused(void **state) {
    (void)state;
    int64_t a = kit_claim(&kit, 1, 4, 0);
    assert_false(kit_heartbeat(&kit, a, 2, "play", 1, 0, &reply));
    assert_int_equal(kit.err.status, 403);
    assert_false(kit_heartbeat(&kit, a + 7, 1, "play", 1, 0, &reply));
    assert_int_equal(kit.err.status, 404);
    assert_false(kit_heartbeat(&kit, a, 1, "sleep", 1, 0, &reply));
    assert_int_equal(kit.err.status, 422);
    assert_false(kit_heartbeat(&kit, a, 1, "play", 1, 9, &reply));
    assert_string_equal(kit.err.field, "started_pairs");
}

static void a_paused_test_stops_its_workers_and_resumes(void **state) {
    (void)state;
    int64_t a = kit_claim(&kit, 1, 4, 0);
    assert_true(ledger_test_pause(&kit.turn, 1, 2, &kit.err));
    assert_true(kit_heartbeat(&kit, a, 1, "play", 1, 0, &reply));
    assert_string_equal(reply.why, "paused");
    assert_int_equal(kit_claim(&kit, 3, 4, 0), 0);
    assert_false(ledger_test_pause(&kit.turn, 1, 2, &kit.err));
    assert_string_equal(kit.err.code, "wrong_state");
    kit.turn.wakes = false;
    assert_true(ledger_test_resume(&kit.turn, 1, 2, &kit.err));
    assert_true(kit.turn.wakes);
    assert_true(kit_heartbeat(&kit, a, 1, "play", 2, 0, &reply));
    assert_true(reply.continues);
}

static void a_stopped_test_tells_its_workers_with_their_next_message(void **state) {
    (void)state;
    int64_t a = kit_claim(&kit, 1, 4, 0);
    assert_true(ledger_test_stop(&kit.turn, 1, 2, "enough", &kit.err));
    assert_true(kit_heartbeat(&kit, a, 1, "play", 1, 0, &reply));
    assert_string_equal(reply.why, "finished");
    assert_true(state_is(a, "stopped"));
    assert_true(kit_post(&kit, a, 1, 0, "2222", &posted));
    assert_false(posted.counted);
    assert_false(posted.task.continues);
    assert_int_equal(kit_check(&kit), 0);
    assert_false(ledger_test_stop(&kit.turn, 1, 2, "again", &kit.err));
}

static void approval_taken_back_returns_the_pairs(void **state) {
    (void)state;
    int64_t a = kit_claim(&kit, 1, 4, 0);
    assert_true(ledger_test_withdraw(&kit.turn, 1, 2, "other bounds", &kit.err));
    assert_true(state_is(a, "stopped"));
    assert_int_equal(kit_int(&kit, "SELECT pair_count FROM returned_pairs"), 8);
    assert_int_equal(kit_claim(&kit, 1, 4, 0), 0);
    kit_activate(&kit, 1);
    assert_int_equal(first_of(kit_claim(&kit, 1, 4, 0)), 0);
    assert_int_equal(kit_check(&kit), 0);
}

static void a_test_of_fixed_length_deals_no_more_than_it_needs(void **state) {
    (void)state;
    kit_sql(&kit, "UPDATE tests SET workload = 'fixed', pairs_max = 20");
    int64_t dealt = 0, task;
    for (int i = 0; i < 20 && (task = kit_claim(&kit, 3, 4, 0)) > 0; i++) {
        dealt += pairs_of(task);
        for (int64_t seq = 0; seq < pairs_of(task) / 4; seq++)
            assert_true(kit_post(&kit, task, 3, seq, "2131", &posted));
    }
    assert_int_equal(dealt, 20);
    assert_string_equal(posted.state, "finished");
    char *result scope(free_ptr) = kit_text(&kit, "SELECT result FROM tests");
    assert_string_equal(result, "completed");
    assert_int_equal(kit_check(&kit), 0);
}

#define ACTIVE(test) cmocka_unit_test_setup_teardown(test, open_active, close_kit)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_test_that_nobody_approved_gives_no_work, open_kit,
                                        close_kit),
        ACTIVE(tasks_are_whole_batches_and_follow_each_other),
        ACTIVE(the_same_key_gets_the_same_task),
        ACTIVE(a_claim_gives_back_what_the_worker_forgot),
        ACTIVE(an_owner_alone_is_dealt_again_what_it_began),
        ACTIVE(plies_without_batches_hold_a_task_for_about_an_hour),
        ACTIVE(each_batch_gives_time_for_the_next),
        ACTIVE(a_machine_without_results_waits_longer_and_longer),
        ACTIVE(a_machine_has_the_cores_that_it_registered),
        ACTIVE(only_proven_owners_hold_many_tasks),
        ACTIVE(a_claim_keeps_what_the_worker_still_holds),
        ACTIVE(a_task_without_a_heartbeat_expires_after_half_a_minute),
        ACTIVE(more_tasks_than_one_turn_takes_expire_in_the_next),
        ACTIVE(a_task_that_cannot_expire_stays_as_it_was),
        ACTIVE(more_plies_renew_a_lease_and_the_same_plies_do_not),
        ACTIVE(building_has_a_limit_that_beats_do_not_move),
        ACTIVE(a_long_clock_makes_a_long_lease),
        ACTIVE(a_release_gives_back_what_was_begun_and_what_was_not),
        ACTIVE(ranges_that_touch_are_joined),
        ACTIVE(a_task_of_another_machine_is_refused),
        ACTIVE(a_paused_test_stops_its_workers_and_resumes),
        ACTIVE(a_stopped_test_tells_its_workers_with_their_next_message),
        ACTIVE(approval_taken_back_returns_the_pairs),
        ACTIVE(a_test_of_fixed_length_deals_no_more_than_it_needs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Batches that were begun and not reported: which ones they are, who plays them then, and what
// follows for an owner that leaves out too many.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "server/ledger/suspects.h"
#include "server/ledger/task.h"
#include "tests/kit/ledger_kit.h"

// Machines 1 and 2 are of anna, who has a record; 3 is of a vouched owner; 4 has no account; 5 is
// of another vouched owner.
enum { ANNA = 1, SECOND = 2, BEN = 3, STRANGER = 4, DAN = 5, BATCH = 4 };

static LedgerKit kit;

static int set_up(void **state) {
    (void)state;
    if (!kit_open(&kit))
        return -1;
    kit_sql(&kit, "INSERT INTO settings VALUES ('trust', 'public'), ('task_seconds', '155')");
    kit_sql(&kit, "INSERT INTO users (id, name, password, created) VALUES (4, 'dan', 'x', 1)");
    kit_sql(&kit, "DELETE FROM roles WHERE user_id IN (1, 2, 4)");
    kit_machines(&kit, DAN, DAN);
    kit_sql(&kit, "UPDATE workers SET user_id = 4 WHERE id = 5");
    kit_sql(&kit, "INSERT INTO vouches (owner, user_id, reason, created) VALUES ('user 2', 3, '', "
                  "1), ('user 4', 3, '', 1)");
    kit_sql(&kit, "INSERT INTO records VALUES ('user 1', 1)");
    kit_sql(&kit, "UPDATE workers SET last_seen = 1000");
    kit_activate(&kit, 1);
    kit_sql(&kit, "UPDATE tests SET units_counted = 0, pairs_max = 400000");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    kit_close(&kit);
    return 0;
}

static int64_t claim(int64_t worker) {
    int64_t task = kit_claim(&kit, worker, 4, 0);
    if (task <= 0)
        fail_msg("machine %d gets no task: %s", (int)worker, task ? kit.err.message : "no work");
    return task;
}

static void report(int64_t task, int64_t worker, int64_t seq, const char *outcomes) {
    BatchReply reply;
    if (!kit_post(&kit, task, worker, seq, outcomes, &reply))
        fail_msg("machine %d: %s", (int)worker, kit.err.message);
}

static void leave(int64_t task, int64_t worker, int64_t started) {
    assert_true(ledger_release(&kit.turn, task, worker, started, &kit.err));
}

static int64_t dropped(void) {
    assert_int_equal(kit_check(&kit), 0);
    return kit_int(&kit, "SELECT coalesce(sum(dropped), 0) FROM owner_days");
}

static int64_t marks(const char *owner) {
    return kit_int(&kit, "SELECT count(*) FROM droppers WHERE owner = '%s'", owner);
}

// What an owner did before, as the sums have it. The audit then differs, so it is not asked.
static void past(const char *owner, int level, int reported, int drops) {
    kit_sql(&kit, "INSERT INTO owner_days VALUES ('%s', %d, %d, %d, %d)", owner,
            (int)(kit.turn.now / 86400), level, reported, drops);
}

// Vouched owners have played so much that others have a share.
static void ben_plays(void) {
    for (int i = 0; i < 10; i++) {
        int64_t task = claim(BEN);
        report(task, BEN, 0, "2222");
        leave(task, BEN, 0);
        kit.turn.now += 1000;
    }
}

static void drop_one(int64_t worker) {
    leave(claim(worker), worker, 1);
    kit.turn.now += 1000; // so the rest from tasks without results is over
}

// ---- what is dropped ----------------------------------------------------------------------------

static void a_batch_with_a_game_is_dropped_by_a_release(void **state) {
    (void)state;
    int64_t task = claim(BEN);
    report(task, BEN, 0, "2222");
    leave(task, BEN, BATCH + 1);
    assert_int_equal(dropped(), 1);
    assert_int_equal(kit_int(&kit, "SELECT first_pair FROM dropped"), BATCH);
    assert_int_equal(kit_int(&kit, "SELECT reported FROM owner_days"), 1);
}

static void who_stops_after_a_batch_and_stays_away_drops_nothing(void **state) {
    (void)state;
    int64_t task = claim(BEN);
    report(task, BEN, 0, "2222");
    leave(task, BEN, BATCH);
    kit.turn.now += 901;
    claim(BEN);
    assert_int_equal(dropped(), 0);
}

static void who_asks_for_other_work_at_once_has_dropped_the_batch(void **state) {
    (void)state;
    int64_t task = claim(BEN);
    report(task, BEN, 0, "2222");
    leave(task, BEN, BATCH);
    assert_int_equal(dropped(), 0);
    kit.turn.now += 60;
    int64_t next = claim(BEN);
    assert_int_equal(dropped(), 1);
    assert_int_equal(kit_int(&kit, "SELECT task_id FROM dropped"), task);
    kit_claim(&kit, BEN, 4, next); // once
    assert_int_equal(dropped(), 1);
}

static void a_forgotten_task_is_one_of_them(void **state) {
    (void)state;
    claim(BEN);
    kit.turn.now += 60;
    claim(BEN); // and holds none
    assert_int_equal(dropped(), 1);
}

static void silence_drops_the_batch_whatever_was_said(void **state) {
    (void)state;
    int64_t task = claim(BEN);
    kit.turn.now += 100000;
    ledger_expire(&kit.turn);
    assert_int_equal(dropped(), 1);
    report(task, BEN, 0, "2222"); // late, so it does not count
    assert_int_equal(dropped(), 1);
    assert_int_equal(kit_int(&kit, "SELECT sum(reported) FROM owner_days"), 0);
}

// Its owner may have others that ask for work meanwhile.
static void who_gives_back_late_had_time_to_look(void **state) {
    (void)state;
    int64_t task = claim(BEN);
    kit.turn.now += 29;
    leave(task, BEN, 0);
    assert_int_equal(dropped(), 0);
    task = claim(DAN);
    kit.turn.now += 302;
    leave(task, DAN, 0);
    assert_int_equal(dropped(), 1);
    kit_sql(&kit, "UPDATE tasks SET phase = 'play' WHERE id = %lld",
            (long long)(task = claim(DAN)));
    kit.turn.now += 302;
    TaskRow row;
    assert_true(task_load(&kit.turn, task, DAN, &row, &kit.err));
    assert_true(task_end(&kit.turn, &row, TASK_FAILED, &kit.err));
    assert_int_equal(dropped(), 2);
}

static void a_pause_and_a_block_that_has_ended_drop_nothing(void **state) {
    (void)state;
    int64_t task = claim(BEN);
    assert_true(ledger_test_pause(&kit.turn, 1, 3, &kit.err));
    leave(task, BEN, 1);
    assert_int_equal(kit_claim(&kit, BEN, 4, 0), 0);
    assert_int_equal(dropped(), 0);
    assert_true(ledger_test_resume(&kit.turn, 1, 3, &kit.err));
    claim(DAN);
    assert_true(ledger_block(&kit.turn, DAN, true, 2, "", &kit.err));
    kit.turn.now += 60;
    assert_true(ledger_block(&kit.turn, DAN, false, 2, "", &kit.err));
    claim(DAN);
    assert_int_equal(dropped(), 0);
}

static void the_end_of_a_test_and_a_block_drop_nothing(void **state) {
    (void)state;
    TaskReply reply;
    assert_true(kit_heartbeat(&kit, claim(BEN), BEN, "play", 1, 1, &reply));
    assert_true(ledger_block(&kit.turn, BEN, true, 2, "", &kit.err));
    claim(DAN);
    assert_true(ledger_test_stop(&kit.turn, 1, 3, "", &kit.err));
    assert_int_equal(dropped(), 0);
}

static void another_owner_plays_what_was_begun(void **state) {
    (void)state;
    int64_t task = claim(BEN);
    leave(task, BEN, 0);
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM returned_pairs WHERE owner = 'user 2' AND "
                                   "first_pair = 0 AND pair_count = 4"),
                     1);
    assert_true(
        kit_int(&kit, "SELECT first_pair FROM tasks WHERE id = %lld", (long long)claim(BEN)) > 0);
    assert_int_equal(
        kit_int(&kit, "SELECT first_pair FROM tasks WHERE id = %lld", (long long)claim(DAN)), 0);
}

// ---- what follows -------------------------------------------------------------------------------

static void a_recorded_owner_is_unproven_from_then_on(void **state) {
    (void)state;
    past("user 1", 1, 60, 2);
    ben_plays();
    int64_t held = claim(SECOND);
    drop_one(ANNA); // 3 of 63
    assert_int_equal(marks("user 1"), 0);
    drop_one(ANNA); // 4 of 64
    assert_int_equal(marks("user 1"), 1);
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM records"), 0);
    assert_int_equal(kit_int(&kit, "SELECT level FROM tasks WHERE id = %lld", (long long)held), 1);
    assert_int_equal(kit_int(&kit, "SELECT level FROM levels WHERE worker_id = 1"), 0);
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM events WHERE type = 'dropped' AND "
                                   "message LIKE '%%4 of 64 batches%%'"),
                     1);
}

static void it_earns_no_record_for_a_while(void **state) {
    (void)state;
    ben_plays();
    past("user 1", 1, 40, 10);
    drop_one(ANNA);
    kit_sql(&kit,
            "INSERT INTO batches (test_id, task_id, worker_id, seq, units, result, tc, speed, "
            "busy, received, position, owner) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL "
            "SELECT i + 1 FROM n WHERE i < 20) SELECT 1, 1, 1, 100 + i, 4, '{}', '10+0.1', 1, 0, "
            "1, 1000 + i, 'user 1' FROM n");
    kit.turn.now = 40 * 86400;
    kit_sql(&kit, "UPDATE droppers SET since = %f", kit.turn.now - 30 * 86400 + 1);
    assert_true(trust_earn(&kit.turn, "user 1", &kit.err));
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM records"), 0);
    kit.turn.now += 2;
    assert_true(trust_earn(&kit.turn, "user 1", &kit.err));
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM records"), 1);
}

static void few_batches_say_nothing(void **state) {
    (void)state;
    ben_plays();
    past("user 1", 1, 30, 8);
    drop_one(ANNA); // 9 of 39
    assert_int_equal(marks("user 1"), 0);
    report(claim(ANNA), ANNA, 0, "2222");
    assert_int_equal(marks("user 1"), 1);
}

static void what_is_usual_in_the_fleet_is_no_fault(void **state) {
    (void)state;
    ben_plays();
    past("user 1", 1, 80, 12); // 13.0 %
    past("user 6", 2, 95, 5);  // 5 %
    past("user 7", 2, 96, 4);  // 4 %
    drop_one(ANNA);            // 14.0 %, and three times the median is 13.5 %
    assert_int_equal(marks("user 1"), 1);
    kit_sql(&kit, "DELETE FROM droppers");
    kit_sql(&kit, "INSERT INTO records VALUES ('user 1', 1)");
    past("user 8", 2, 94, 6); // now 15 %
    drop_one(ANNA);           // 14.9 %
    assert_int_equal(marks("user 1"), 0);
}

static void a_crowd_of_owners_does_not_raise_the_median(void **state) {
    (void)state;
    ben_plays();
    past("user 1", 1, 80, 12);
    for (int i = 0; i < 20; i++) {
        char owner[32];
        snprintf(owner, sizeof owner, i % 2 ? "user %d" : "network 10.0.%d", 50 + i);
        past(owner, i % 2, 50, 50);
    }
    drop_one(ANNA);
    assert_int_equal(marks("user 1"), 1);
}

static void what_is_long_ago_is_forgotten(void **state) {
    (void)state;
    past("user 1", 1, 40, 30);
    kit.turn.now += 30 * 86400;
    ben_plays();
    drop_one(ANNA);
    assert_int_equal(marks("user 1"), 0);
}

static void a_vouched_owner_stays_and_is_shown_with_both_scores(void **state) {
    (void)state;
    past("user 2", 2, 60, 5);
    int64_t task = claim(BEN);
    report(task, BEN, 0, "3333");
    leave(task, BEN, BATCH + 1);
    assert_int_equal(kit_int(&kit, "SELECT level FROM levels WHERE worker_id = 3"), 2);
    int64_t other = claim(DAN);
    assert_int_equal(
        kit_int(&kit, "SELECT first_pair FROM tasks WHERE id = %lld", (long long)other), BATCH);
    report(other, DAN, 0, "1111");
    char *text scope(free_ptr) = suspects_evidence(kit.db, kit.turn.now, BEN);
    assert_string_equal(
        text, "It is suspected of: 1 batch that it began and did not report in time; its owner: 6 "
              "of 67 in 30 days (9.0 %, median of vouched owners 0.0 %); others scored 25.0 % in 4 "
              "of those pairs, and it 75.0 % in what it reported of the same tests");
    char *none scope(free_ptr) = suspects_evidence(kit.db, kit.turn.now, DAN);
    assert_string_equal(none, "It is suspected of nothing");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_batch_with_a_game_is_dropped_by_a_release),
        TEST(who_stops_after_a_batch_and_stays_away_drops_nothing),
        TEST(who_asks_for_other_work_at_once_has_dropped_the_batch),
        TEST(a_forgotten_task_is_one_of_them),
        TEST(silence_drops_the_batch_whatever_was_said),
        TEST(who_gives_back_late_had_time_to_look),
        TEST(a_pause_and_a_block_that_has_ended_drop_nothing),
        TEST(the_end_of_a_test_and_a_block_drop_nothing),
        TEST(another_owner_plays_what_was_begun),
        TEST(a_recorded_owner_is_unproven_from_then_on),
        TEST(it_earns_no_record_for_a_while),
        TEST(few_batches_say_nothing),
        TEST(what_is_usual_in_the_fleet_is_no_fault),
        TEST(a_crowd_of_owners_does_not_raise_the_median),
        TEST(what_is_long_ago_is_forgotten),
        TEST(a_vouched_owner_stays_and_is_shown_with_both_scores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

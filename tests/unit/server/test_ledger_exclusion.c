// Exclusions and blocked machines: whole windows go out of the totals and come back to the bit, a
// verdict that was given stays, and what a blocked machine sends does not count.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "server/ledger/history.h"
#include "tests/kit/ledger_kit.h"

static LedgerKit kit;
static BatchReply posted;
static TaskReply reply;
static Excluded changed;
static int64_t task;

static int open_task(void **state) {
    (void)state;
    posted = (BatchReply){0};
    task = kit_open_task(&kit);
    return task > 0 ? 0 : -1;
}

static int close_kit(void **state) {
    (void)state;
    kit_close(&kit);
    return 0;
}

static bool exclude(int64_t worker, const char *which) {
    return kit_exclude(&kit, 1, worker, which, &changed);
}

static bool undo(int64_t exclusion) {
    Inclusion inclusion = {1, exclusion, 2, ""};
    return ledger_include(&kit.turn, &inclusion, NULL, &changed, &kit.err);
}

static bool include(int64_t worker) {
    return kit_include(&kit, 1, worker, &changed);
}

static char *stands(void) {
    return kit_text(&kit, "SELECT counts || points || units_counted || ' ' || promise || "
                          "(SELECT group_concat(position || state) FROM history) "
                          "FROM tests WHERE id = 1");
}

static void an_exclusion_taken_back_leaves_no_trace(void **state) {
    (void)state;
    int64_t other = kit_claim(&kit, 3, 4, 0);
    assert_true(kit_post(&kit, task, 1, 0, "0124", &posted));
    assert_true(kit_post(&kit, other, 3, 0, "4444", &posted));
    assert_true(kit_post(&kit, task, 1, 1, "2233", &posted));
    char *before scope(free_ptr) = stands();
    assert_true(exclude(3, "all"));
    assert_int_equal(changed.pairs, 4);
    assert_int_equal(kit_int(&kit, "SELECT counts ->> '$.wins' FROM tests"), 4);
    assert_int_equal(kit_int(&kit, "SELECT counts ->> '$.ptnml[4]' FROM tests"), 1);
    assert_int_equal(kit_check(&kit), 0);
    assert_true(include(3));
    char *after scope(free_ptr) = stands();
    assert_string_equal(before, after);
    assert_int_equal(kit_check(&kit), 0);
}

static void a_long_test_keeps_a_thin_history(void **state) {
    (void)state;
    kit_sql(&kit, "UPDATE tests SET workload = 'fixed', pairs_max = 100000");
    for (int i = 0; i < 2 * HISTORY_ROWS_MAX + 9; i++) {
        int64_t seq = kit_int(&kit, "SELECT next_seq FROM tasks WHERE id = %lld", (long long)task);
        assert_true(kit_post(&kit, task, 1, seq, i % 2 ? "1232" : "4012", &posted));
        if (!posted.task.continues)
            task = kit_claim(&kit, 1, 4, 0);
        if (i == HISTORY_ROWS_MAX - 2)
            assert_int_equal(kit_int(&kit, "SELECT count(*) FROM history"), HISTORY_ROWS_MAX - 1);
        if (i == HISTORY_ROWS_MAX - 1)
            assert_int_equal(kit_int(&kit, "SELECT count(*) FROM history"), HISTORY_ROWS_MAX / 2);
    }
    assert_int_equal(kit_int(&kit, "SELECT max(position) FROM history"), 2 * HISTORY_ROWS_MAX + 8);
    assert_int_equal(kit_check(&kit), 0);
    char *before scope(free_ptr) = stands();
    assert_true(exclude(1, "all"));
    assert_int_equal(kit_int(&kit, "SELECT max(units) FROM history"), 0);
    assert_int_equal(kit_check(&kit), 0);
    assert_true(include(1));
    char *after scope(free_ptr) = stands();
    assert_string_equal(before, after);
    assert_int_equal(kit_check(&kit), 0);
}

static void only_whole_windows_of_marked_batches_go(void **state) {
    (void)state;
    json_auto_t *result = kit_result("4444");
    Batch flagged = kit_batch(task, 1, 0, result);
    flagged.busy = 0.9;
    assert_true(ledger_batch(&kit.turn, &flagged, &posted, &kit.err));
    assert_true(kit_post(&kit, task, 1, 1, "2222", &posted));
    assert_true(exclude(1, "flagged"));
    assert_int_equal(changed.batches, 1);
    assert_int_equal(
        kit_int(&kit, "SELECT (counts ->> '$.wins') + (counts ->> '$.draws') FROM tests"), 8);
    assert_false(exclude(1, "flagged"));
    assert_string_equal(kit.err.code, "nothing_to_exclude");
    assert_true(exclude(1, "all"));
    assert_int_equal(changed.batches, 1);
    assert_true(undo(1));
    assert_int_equal(changed.batches, 0); // the other exclusion covers it as well
    assert_true(undo(2));
    assert_int_equal(changed.batches, 2);
    assert_false(undo(2));
    assert_string_equal(kit.err.code, "not_excluded");
    assert_int_equal(kit_check(&kit), 0);
}

static void an_exclusion_holds_for_what_comes_later(void **state) {
    (void)state;
    assert_true(kit_post(&kit, task, 1, 0, "4444", &posted));
    assert_true(exclude(1, "all"));
    assert_true(kit_post(&kit, task, 1, 1, "4444", &posted));
    assert_false(posted.counted);
    assert_true(kit_post(&kit, task, 1, 1, "4444", &posted));
    assert_true(posted.repeat && !posted.counted);
    assert_int_equal(kit_int(&kit, "SELECT counts ->> '$.wins' FROM tests"), 0);
    assert_int_equal(kit_check(&kit), 0);
    assert_true(include(1));
    assert_int_equal(changed.pairs, 8);
    assert_int_equal(kit_int(&kit, "SELECT counts ->> '$.wins' FROM tests"), 16);
    assert_int_equal(kit_check(&kit), 0);
}

static void a_verdict_stays_when_its_batches_go(void **state) {
    (void)state;
    kit_sql(&kit, "UPDATE tests SET workload = 'fixed', pairs_max = 8");
    assert_true(kit_post(&kit, task, 1, 0, "4444", &posted));
    assert_true(kit_post(&kit, task, 1, 1, "4444", &posted));
    assert_true(kit_result_is(&kit, "completed"));
    assert_true(exclude(1, "all"));
    assert_true(kit_result_is(&kit, "completed"));
    assert_int_equal(kit_int(&kit, "SELECT counts ->> '$.wins' FROM tests"), 0);
    assert_int_equal(kit_check(&kit), 0);
}

static void what_comes_back_may_decide_an_open_test(void **state) {
    (void)state;
    int64_t other = kit_claim(&kit, 3, 4, 0);
    kit_sql(&kit, "UPDATE tests SET workload = 'fixed', pairs_max = 8");
    kit.turn.now += 1; // so the next batch of the first task is due after that of the other
    assert_true(kit_post(&kit, task, 1, 0, "4444", &posted));
    assert_true(exclude(1, "all"));
    assert_true(kit_post(&kit, other, 3, 0, "2222", &posted));
    assert_true(kit_result_is(&kit, ""));
    assert_true(include(1));
    assert_true(kit_result_is(&kit, "completed"));
    assert_int_equal(kit_check(&kit), 0);
}

static void what_is_not_there_cannot_be_excluded(void **state) {
    (void)state;
    assert_false(exclude(1, "all"));
    assert_string_equal(kit.err.code, "nothing_to_exclude");
    assert_false(exclude(99, "all"));
    assert_string_equal(kit.err.code, "no_such_machine");
    assert_false(exclude(1, "losses"));
    assert_string_equal(kit.err.field, "which");
    Exclusion nowhere = {.test = 99, .kind = "machine", .worker = 1, .which = "all", .reason = ""};
    assert_false(ledger_exclude(&kit.turn, &nowhere, NULL, &changed, &kit.err));
    assert_string_equal(kit.err.code, "no_such_test");
}

// ---- games that cannot have been played ---------------------------------------------------------

static bool refuse(int64_t seq, const char *fault) {
    json_auto_t *result = kit_result("4444");
    Batch batch = kit_batch(task, 1, seq, result);
    return ledger_batch_refuse(&kit.turn, &batch, fault, &kit.err);
}

static void impossible_games_end_the_task_and_keep_their_machine_away(void **state) {
    (void)state;
    assert_true(kit_post(&kit, task, 1, 0, "4444", &posted));
    assert_true(refuse(1, "batch 1: game 3: it is of another pair"));
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM log WHERE excluded = 0"), 1);
    assert_false(kit_post(&kit, task, 1, 1, "4444", &posted));
    assert_string_equal(kit.err.code, "replay_mismatch");
    assert_string_equal(kit.err.message, "batch 1: game 3: it is of another pair");
    assert_true(kit_post(&kit, task, 1, 0, "4444", &posted)); // it was counted before
    assert_true(posted.repeat && !posted.task.continues);
    assert_true(refuse(1, "again"));
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM events WHERE type = 'replay'"), 1);
    assert_int_equal(kit_claim(&kit, 1, 4, 0), 0);
    int64_t other = kit_claim(&kit, 3, 4, 0);
    assert_int_equal(
        kit_int(&kit, "SELECT first_pair FROM tasks WHERE id = %lld", (long long)other), 4);
    assert_int_equal(kit_check(&kit), 0);
}

static void a_batch_whose_games_were_not_replayed_does_not_count(void **state) {
    (void)state;
    json_auto_t *result = kit_result("4444");
    Batch batch = kit_batch(task, 1, 0, result);
    batch.replayed = false;
    assert_false(ledger_batch(&kit.turn, &batch, &posted, &kit.err));
    assert_string_equal(kit.err.code, "games_missing");
    assert_false(ledger_batch_replay(&kit.turn, kit.folder, &batch, &kit.err));
    assert_string_equal(kit.err.field, "games_sha256");
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM batches"), 0);
}

// ---- blocked machines ---------------------------------------------------------------------------

static bool block(int64_t worker, bool on) {
    return ledger_block(&kit.turn, worker, on, 2, "", &kit.err);
}

static void a_blocked_machine_loses_its_task_and_its_later_batches_do_not_count(void **state) {
    (void)state;
    assert_true(kit_post(&kit, task, 1, 0, "4444", &posted));
    assert_true(kit_heartbeat(&kit, task, 1, "play", 1, 5, &reply));
    assert_true(block(1, true));
    assert_true(kit_heartbeat(&kit, task, 1, "play", 2, 6, &reply));
    assert_false(reply.continues);
    assert_true(kit_post(&kit, task, 1, 1, "4444", &posted));
    assert_false(posted.counted);
    assert_int_equal(kit_int(&kit, "SELECT counts ->> '$.wins' FROM tests"), 8);
    assert_int_equal(kit_int(&kit, "SELECT games FROM workers WHERE id = 1"), 8);
    assert_int_equal(kit_check(&kit), 0);
    assert_false(block(1, true));
    assert_true(block(1, false));
    assert_false(block(1, false));
    assert_false(block(99, true));
    assert_string_equal(kit.err.code, "no_such_machine");
}

static void what_a_blocked_machine_had_not_begun_is_played_by_others(void **state) {
    (void)state;
    assert_true(block(1, true));
    int64_t other = kit_claim(&kit, 3, 4, 0);
    assert_int_equal(
        kit_int(&kit, "SELECT first_pair FROM tasks WHERE id = %lld", (long long)other), 0);
    assert_int_equal(kit_check(&kit), 0);
}

#define WITH_TASK(test) cmocka_unit_test_setup_teardown(test, open_task, close_kit)

// ---- records ------------------------------------------------------------------------------------

static int64_t records(void) {
    return kit_int(&kit, "SELECT count(*) FROM records");
}

static void play_batches(int count) {
    for (int i = 0; i < count; i++) {
        int64_t seq = kit_int(&kit, "SELECT next_seq FROM tasks WHERE id = %lld", (long long)task);
        assert_true(kit_post(&kit, task, 1, seq, "1232", &posted));
        if (!posted.task.continues)
            task = kit_claim(&kit, 1, 4, 0);
    }
}

static void a_record_takes_batches_and_a_day(void **state) {
    (void)state;
    play_batches(15);
    kit.turn.now += 90000;
    kit_sql(&kit, "UPDATE tasks SET lease_until = 1e9");
    assert_int_equal(records(), 0); // one batch is missing
    play_batches(1);
    assert_int_equal(records(), 1);
}

static void impossible_games_take_the_record_for_a_month(void **state) {
    (void)state;
    play_batches(15);
    kit.turn.now += 90000;
    kit_sql(&kit, "UPDATE tasks SET lease_until = 1e9");
    play_batches(2);
    assert_int_equal(records(), 1);
    assert_true(refuse(1, "batch 1: game 3: it is of another pair"));
    assert_int_equal(records(), 0);
    kit_sql(&kit, "UPDATE tests SET resumed = %f", ++kit.turn.now);
    task = kit_claim(&kit, 1, 4, 0);
    play_batches(3);
    assert_int_equal(records(), 0);
    kit.turn.now += 31 * 86400;
    kit_sql(&kit, "UPDATE tasks SET lease_until = 1e9");
    play_batches(1);
    assert_int_equal(records(), 1);
}

static void many_batches_of_one_day_are_no_record(void **state) {
    (void)state;
    play_batches(40);
    assert_int_equal(records(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_TASK(an_exclusion_taken_back_leaves_no_trace),
        WITH_TASK(a_long_test_keeps_a_thin_history),
        WITH_TASK(only_whole_windows_of_marked_batches_go),
        WITH_TASK(an_exclusion_holds_for_what_comes_later),
        WITH_TASK(a_verdict_stays_when_its_batches_go),
        WITH_TASK(what_comes_back_may_decide_an_open_test),
        WITH_TASK(what_is_not_there_cannot_be_excluded),
        WITH_TASK(impossible_games_end_the_task_and_keep_their_machine_away),
        WITH_TASK(a_batch_whose_games_were_not_replayed_does_not_count),
        WITH_TASK(a_blocked_machine_loses_its_task_and_its_later_batches_do_not_count),
        WITH_TASK(what_a_blocked_machine_had_not_begun_is_played_by_others),
        WITH_TASK(a_record_takes_batches_and_a_day),
        WITH_TASK(many_batches_of_one_day_are_no_record),
        WITH_TASK(impossible_games_take_the_record_for_a_month),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

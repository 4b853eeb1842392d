// Machines that differ from the others: what is counted, with what it is compared, and what a
// maintainer's block and its end write down.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/common/json_member.h"
#include "server/ledger/suspects.h"
#include "tests/kit/speed_kit.h"

static const char *const TWO_CRASHES = "{\"crashes\": 2}";

static void play(int64_t worker, int tasks, const char *result) {
    for (int i = 0; i < tasks; i++)
        speed_play((Told){worker, 1, 1, result});
}

static void three_others_play(int tasks, const char *result) {
    play(3, tasks, result);
    play(4, tasks, result);
    play(DAN, tasks, result);
}

static json_t *suspects(void) {
    return suspects_list(speed_kit.db, speed_kit.turn.now, 0);
}

static size_t named(void) {
    json_auto_t *list = suspects();
    return json_array_size(list);
}

static int64_t first_named(void) {
    json_auto_t *list = suspects();
    return member_int(json_array_get(list, 0), "id");
}

static bool first_evidence_is(const char *kind, int64_t count) {
    json_auto_t *list = suspects();
    json_t *evidence = json_array_get(json_object_get(json_array_get(list, 0), "evidence"), 0);
    return strcmp(member_text(evidence, "kind"), kind) == 0 &&
           member_int(evidence, "count") == count;
}

static void block(int64_t worker, bool whether, const char *reason) {
    if (!ledger_block(&speed_kit.turn, worker, whether, 2, reason, &speed_kit.err))
        fail_msg("%s", speed_kit.err.message);
}

static char *event_text(const char *type) {
    return kit_text(&speed_kit,
                    "SELECT message FROM events WHERE type = '%s' ORDER BY id DESC LIMIT 1", type);
}

// ---- what is named ------------------------------------------------------------------------------

static void a_machine_with_more_faults_than_its_part_is_named(void **state) {
    (void)state;
    three_others_play(2, NULL);
    assert_int_equal(named(), 0);
    play(1, 2, TWO_CRASHES);
    assert_int_equal(named(), 1);
    assert_int_equal(first_named(), 1);
    assert_true(first_evidence_is("crash", 8));
    char *text scope(free_ptr) = suspects_evidence(speed_kit.db, speed_kit.turn.now, 1);
    assert_string_equal(text,
                        "It is suspected of: 8 of 32 games lost by a crash, a stall or an illegal "
                        "move; by its part of the same tests it would be 2.0");
}

static void each_kind_of_fault_is_told_from_the_others(void **state) {
    (void)state;
    three_others_play(2, NULL);
    play(1, 2, "{\"time_losses\": 2}");
    assert_true(first_evidence_is("time", 8));
    play(5, 4, "{\"ponders\": 1, \"ponders_against\": 1}");
    assert_int_equal(named(), 2);
    json_auto_t *of_cyd = suspects_list(speed_kit.db, speed_kit.turn.now, 5);
    assert_int_equal(json_array_size(of_cyd), 1);
    char *text scope(free_ptr) = suspects_evidence(speed_kit.db, speed_kit.turn.now, 5);
    assert_non_null(strstr(text, "16 of 64 games lost by computing in the opponent's time"));
}

static void an_engine_that_loses_on_all_machines_names_none(void **state) {
    (void)state;
    three_others_play(2, TWO_CRASHES);
    play(1, 2, TWO_CRASHES);
    assert_int_equal(named(), 0);
}

static void a_machine_alone_in_its_test_cannot_differ(void **state) {
    (void)state;
    play(1, 4, TWO_CRASHES);
    assert_int_equal(named(), 0);
}

static void busy_batches_are_named_too(void **state) {
    (void)state;
    three_others_play(4, NULL);
    for (int i = 0; i < 6; i++) {
        int64_t task = speed_claim(1);
        json_auto_t *result = kit_result("1322");
        Batch batch = kit_batch(task, 1, 0, result);
        BatchReply reply;
        batch.busy = 0.9;
        batch.load = LOAD_UNKNOWN;
        batch.load.speed = 1e6;
        assert_int_equal(named(), 0);
        assert_true(ledger_batch(&speed_kit.turn, &batch, &reply, &speed_kit.err));
        assert_true(ledger_release(&speed_kit.turn, task, 1, 0, &speed_kit.err));
    }
    assert_true(first_evidence_is("load", 6));
}

static void games_that_cannot_have_been_played_come_first(void **state) {
    (void)state;
    three_others_play(2, NULL);
    play(1, 8, TWO_CRASHES);
    int64_t task = speed_claim(5);
    Batch batch = {.task = task, .worker = 5};
    assert_true(
        ledger_batch_refuse(&speed_kit.turn, &batch, "game 0: no such move", &speed_kit.err));
    assert_int_equal(named(), 2);
    assert_int_equal(first_named(), 5);
    assert_true(first_evidence_is("games", 1));
}

static void what_is_older_than_thirty_days_is_not_held_against_a_machine(void **state) {
    (void)state;
    three_others_play(2, NULL);
    play(1, 2, TWO_CRASHES);
    speed_kit.turn.now += SUSPECT_DAYS * 86400 - 1;
    assert_int_equal(named(), 1);
    speed_kit.turn.now += 2;
    assert_int_equal(named(), 0);
}

// ---- blocked, and unblocked ---------------------------------------------------------------------

static void a_block_and_its_end_keep_the_evidence(void **state) {
    (void)state;
    three_others_play(2, NULL);
    block(5, true, "");
    char *nothing scope(free_ptr) = event_text("blocked");
    assert_string_equal(nothing, "machine blocked. It is suspected of nothing");
    play(1, 2, TWO_CRASHES);
    block(1, true, "its memory fails");
    char *why scope(free_ptr) = event_text("blocked");
    assert_non_null(
        strstr(why, "machine blocked: its memory fails. It is suspected of: 8 of 32 games"));
    speed_kit.turn.now += 60;
    block(1, false, "new memory");
    char *end scope(free_ptr) = event_text("unblocked");
    assert_non_null(
        strstr(end, "machine unblocked: new memory. It is suspected of: 8 of 32 games"));
    assert_int_equal(named(), 0);
    three_others_play(4, NULL);
    play(1, 2, NULL);
    assert_int_equal(named(), 0);
    play(1, 4, TWO_CRASHES);
    assert_int_equal(first_named(), 1);
    assert_true(first_evidence_is("crash", 16)); // those before are forgotten, not counted twice
    assert_int_equal(kit_check(&speed_kit), 0);
}

static void what_a_blocked_machine_sends_does_not_count(void **state) {
    (void)state;
    BatchReply reply;
    int64_t task = speed_claim(1), counted = kit_int(&speed_kit, "SELECT units_counted FROM tests");
    block(1, true, "");
    assert_true(kit_post(&speed_kit, task, 1, 0, "1322", &reply));
    assert_false(reply.counted);
    assert_int_equal(kit_int(&speed_kit, "SELECT units_counted FROM tests"), counted);
}

// ---- events -------------------------------------------------------------------------------------

static int64_t fault_events(void) {
    return kit_int(&speed_kit,
                   "SELECT coalesce(sum(1 + repeats), 0) FROM events WHERE type = 'faults'");
}

static void more_than_three_faults_in_a_task_are_an_event_once(void **state) {
    (void)state;
    kit_sql(&speed_kit, "UPDATE settings SET value = '310' WHERE name = 'task_seconds'");
    play(1, 1, NULL);
    int64_t task = speed_claim(1);
    speed_post(task, 0, (Told){1, 1, 1, TWO_CRASHES});
    speed_post(task, 1, (Told){1, 1, 1, "{\"time_losses\": 2}"}); // of another kind
    assert_int_equal(fault_events(), 0);
    speed_post(task, 2, (Told){1, 1, 1, TWO_CRASHES});
    assert_int_equal(fault_events(), 1);
    char *text scope(free_ptr) = event_text("faults");
    assert_non_null(strstr(text, "4 of 24 games were lost by a crash, a stall or an illegal move"));
    speed_post(task, 3, (Told){1, 1, 1, TWO_CRASHES});
    assert_int_equal(fault_events(), 1);
}

static void more_than_a_hundredth_of_a_test_is_an_event_once(void **state) {
    (void)state;
    play(3, 21, NULL);
    play(1, 2, "{\"time_losses\": 1}"); // 4 of 368 are more, but the games are too few
    play(4, 2, NULL);
    assert_int_equal(kit_int(&speed_kit, "SELECT games FROM test_conduct"), 400);
    assert_int_equal(fault_events(), 0);
    play(4, 1, "{\"time_losses\": 1}");
    assert_int_equal(fault_events(), 1);
    play(4, 1, "{\"time_losses\": 1}");
    assert_int_equal(fault_events(), 1);
    char *text scope(free_ptr) = event_text("faults");
    assert_non_null(strstr(text, "of this test were lost on time, more than 1 %"));
}

// ---- the sums -----------------------------------------------------------------------------------

static void the_audit_compares_the_sums_with_the_batches(void **state) {
    (void)state;
    three_others_play(1, TWO_CRASHES);
    assert_int_equal(kit_check(&speed_kit), 0);
    kit_sql(&speed_kit, "UPDATE conduct SET crashes = crashes - 1 WHERE worker_id = 3");
    assert_int_equal(kit_check(&speed_kit), 1);
    kit_sql(&speed_kit, "UPDATE conduct SET crashes = crashes + 1 WHERE worker_id = 3");
    kit_sql(&speed_kit, "UPDATE test_conduct SET games = games + 1");
    assert_int_equal(kit_check(&speed_kit), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, speed_open, speed_close)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_machine_with_more_faults_than_its_part_is_named),
        TEST(each_kind_of_fault_is_told_from_the_others),
        TEST(an_engine_that_loses_on_all_machines_names_none),
        TEST(a_machine_alone_in_its_test_cannot_differ),
        TEST(busy_batches_are_named_too),
        TEST(games_that_cannot_have_been_played_come_first),
        TEST(what_is_older_than_thirty_days_is_not_held_against_a_machine),
        TEST(a_block_and_its_end_keep_the_evidence),
        TEST(what_a_blocked_machine_sends_does_not_count),
        TEST(more_than_three_faults_in_a_task_are_an_event_once),
        TEST(more_than_a_hundredth_of_a_test_is_an_event_once),
        TEST(the_audit_compares_the_sums_with_the_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

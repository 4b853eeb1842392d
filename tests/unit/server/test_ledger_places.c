// The order in which batches count: none sooner for having been quick, none later than its place.
// Machine 1 holds a task whose first batch is due after a minute. Machine 3 claims ten seconds
// later.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/pages/doc_waiting.h"
#include "tests/kit/ledger_kit.h"

static LedgerKit kit;
static BatchReply posted;
static TaskReply reply;
static int64_t slow, quick;

// Both machines have 4 cores, so the task that began first is due first.
static int open_two(void **state) {
    (void)state;
    slow = kit_open_task(&kit);
    kit.turn.now += 10;
    quick = kit_claim(&kit, 3, 4, 0);
    kit.turn.now += 10;
    return slow > 0 && quick > 0 ? 0 : -1;
}

static int close_kit(void **state) {
    (void)state;
    kit_close(&kit);
    return 0;
}

static bool post_as(int64_t task, int64_t worker, int64_t seq, const char *word) {
    assert_true(kit_post(&kit, task, worker, seq, "2134", &posted));
    assert_int_equal(posted.counted, !*word);
    return strcmp(posted.uncounted, word) == 0;
}

static int64_t position(int64_t task, int64_t seq) {
    return kit_int(&kit, "SELECT position FROM batches WHERE task_id = %lld AND seq = %lld",
                   (long long)task, (long long)seq);
}

static int64_t counted(void) {
    return kit_int(&kit, "SELECT units_counted FROM tests WHERE id = 1");
}

static void tick(void) {
    ledger_expire(&kit.turn);
    ledger_count_waiting(&kit.turn);
    assert_int_equal(kit_check(&kit), 0);
}

// ---- the order ----------------------------------------------------------------------------------

static void a_quick_batch_waits_for_the_one_that_is_due_before_it(void **state) {
    (void)state;
    assert_true(post_as(quick, 3, 0, "waits"));
    assert_int_equal(posted.units, 0);
    assert_int_equal(kit_check(&kit), 0);
    assert_true(kit_post(&kit, quick, 3, 0, "2134", &posted)); // a repeat says so, too
    assert_true(posted.repeat && !posted.counted && strcmp(posted.uncounted, "waits") == 0);
    assert_true(post_as(slow, 1, 0, ""));
    assert_int_equal(posted.units, 8);
    assert_int_equal(position(slow, 0), 1);
    assert_int_equal(position(quick, 0), 2);
    assert_int_equal(kit_check(&kit), 0);
}

static void one_that_is_due_first_counts_at_once(void **state) {
    (void)state;
    kit.turn.now += 1;
    assert_true(post_as(slow, 1, 0, ""));
    assert_true(post_as(quick, 3, 0, "")); // the next batch of the slow machine is due later
}

// Of two that are due at one time the one whose task was dealt first is first, or even machines
// that all begin at once would be counted as they come.
static void even_machines_that_begin_together_count_in_one_order(void **state) {
    (void)state;
    kit_sql(&kit, "UPDATE tasks SET due = 1050");
    assert_true(post_as(quick, 3, 0, "waits"));
    assert_true(post_as(slow, 1, 0, ""));
    assert_int_equal(position(quick, 0), 2);
}

// A machine that needs longer has a later place, although it began first.
static void a_machine_of_one_core_holds_up_none_of_four(void **state) {
    (void)state;
    assert_true(ledger_release(&kit.turn, slow, 1, 0, &kit.err));
    int64_t one = kit_claim(&kit, 2, 1, 0);
    kit.turn.now += 1;
    assert_true(post_as(quick, 3, 0, ""));
    assert_true(kit_int(&kit, "SELECT max(due) - min(due) > 100 FROM tasks WHERE state = 'open'"));
    assert_true(one > 0);
}

static void a_machine_alone_never_waits(void **state) {
    (void)state;
    assert_true(ledger_release(&kit.turn, slow, 1, 0, &kit.err));
    for (int i = 0; i < 20; i++) {
        int64_t batches =
            kit_int(&kit, "SELECT pair_count / 4 FROM tasks WHERE id = %lld", (long long)quick);
        for (int64_t seq = 0; seq < batches; seq++)
            assert_true(post_as(quick, 3, seq, ""));
        quick = kit_claim(&kit, 3, 4, 0);
    }
    assert_int_equal(kit_check(&kit), 0);
}

// Batch 1 of the slow task began when its batch 0 came. It is due after the second batch of the
// quick one if that began before.
static void a_place_is_taken_when_the_batch_before_it_comes(void **state) {
    (void)state;
    assert_true(post_as(quick, 3, 0, "waits")); // its next one begins now
    kit.turn.now += 1;
    assert_true(post_as(slow, 1, 0, "")); // and that of this machine a second later
    assert_true(post_as(slow, 1, 1, "waits"));
    assert_true(post_as(quick, 3, 1, ""));
    assert_int_equal(position(quick, 1), 3);
    assert_int_equal(position(slow, 1), 4);
}

// ---- places that become free --------------------------------------------------------------------

static void what_was_given_back_is_waited_for_no_more(void **state) {
    (void)state;
    assert_true(post_as(quick, 3, 0, "waits"));
    assert_true(ledger_release(&kit.turn, slow, 1, 0, &kit.err));
    tick();
    assert_int_equal(position(quick, 0), 1);
    assert_true(post_as(slow, 1, 0, "late"));
    assert_int_equal(counted(), 4);
    assert_int_equal(kit_check(&kit), 0);
}

static void no_heartbeat_holds_a_place_longer_than_three_times_its_time(void **state) {
    (void)state;
    kit.turn.now += 1;
    assert_true(post_as(slow, 1, 0, ""));
    assert_true(post_as(quick, 3, 0, ""));
    assert_true(post_as(quick, 3, 1, "waits")); // batch 1 of the slow task began just before
    double begun = kit.turn.now;
    for (int64_t plies = 1; !position(quick, 1) && kit.turn.now < begun + 3600; plies++) {
        kit.turn.now += 10;
        assert_true(kit_heartbeat(&kit, slow, 1, "play", plies, 8, &reply));
        tick();
    }
    assert_in_range((int64_t)(kit.turn.now - begun), 290, 320); // 3 x 62 s is less than a lease
    assert_true(post_as(slow, 1, 1, "late"));
    // Its pairs are dealt again, to another owner, with a new place.
    int64_t again = kit_claim(&kit, 3, 4, 0);
    assert_int_equal(
        kit_int(&kit, "SELECT first_pair FROM tasks WHERE id = %lld", (long long)again), 4);
    assert_true(post_as(again, 3, 0, ""));
    assert_int_equal(kit_check(&kit), 0);
}

static void a_blocked_machine_holds_up_nothing(void **state) {
    (void)state;
    assert_true(post_as(quick, 3, 0, "waits"));
    assert_true(ledger_block(&kit.turn, 1, true, 2, "", &kit.err));
    tick();
    assert_int_equal(counted(), 4);
}

static void a_failure_holds_up_nothing(void **state) {
    (void)state;
    Failure failure = {slow, 1, 0, 0, "machine", "", "fan", ""};
    assert_true(post_as(quick, 3, 0, "waits"));
    assert_true(ledger_fail(&kit.turn, &failure, &kit.err));
    tick();
    assert_int_equal(counted(), 4);
}

// ---- what else happens meanwhile ----------------------------------------------------------------

static void places_move_with_the_clock(void **state) {
    (void)state;
    assert_true(post_as(quick, 3, 0, "waits"));
    kit.turn.now += 7200;
    assert_true(ledger_move_time(kit.db, 7200, &kit.err)); // the server was down
    tick();
    assert_int_equal(counted(), 0);
    int64_t third = kit_claim(&kit, 2, 4, 0); // begins now, so it is due last
    assert_true(post_as(third, 2, 0, "waits"));
    assert_true(post_as(slow, 1, 0, ""));
    assert_int_equal(position(quick, 0), 2);
    assert_int_equal(kit_check(&kit), 0);
}

static void batches_of_a_paused_test_take_their_places(void **state) {
    (void)state;
    assert_true(post_as(quick, 3, 0, "waits"));
    assert_true(ledger_test_pause(&kit.turn, 1, 2, &kit.err));
    assert_true(post_as(slow, 1, 0, ""));
    assert_int_equal(position(quick, 0), 2);
    assert_true(ledger_test_resume(&kit.turn, 1, 2, &kit.err));
    assert_int_equal(counted(), 8);
}

// Nothing counts in a test that is not approved, and nothing that was played is lost.
static void batches_of_a_withdrawn_test_count_when_it_is_approved_again(void **state) {
    (void)state;
    assert_true(post_as(quick, 3, 0, "waits"));
    assert_true(ledger_test_withdraw(&kit.turn, 1, 2, "", &kit.err));
    tick();
    assert_int_equal(counted(), 0);
    kit_activate(&kit, 1);
    tick();
    assert_int_equal(counted(), 4);
}

static void an_excluded_batch_takes_its_place_and_does_not_count(void **state) {
    (void)state;
    Excluded changed;
    assert_true(post_as(quick, 3, 0, "waits"));
    kit.turn.now += 1;
    assert_true(post_as(slow, 1, 0, ""));
    assert_true(post_as(quick, 3, 1, ""));
    assert_true(kit_exclude(&kit, 1, 3, "all", &changed));
    int64_t more = kit_claim(&kit, 3, 4, 0);
    kit.turn.now += 1;
    int64_t last = kit_claim(&kit, 2, 4, 0);
    kit.turn.now += 1;
    assert_true(post_as(more, 3, 0, "excluded") && post_as(last, 2, 0, "waits"));
    assert_true(post_as(slow, 1, 1, "")); // all three
    assert_int_equal(counted(), 12);
    assert_int_equal(kit_int(&kit, "SELECT positions FROM tests"), 6);
    assert_int_equal(kit_check(&kit), 0);
    assert_true(kit_include(&kit, 1, 3, &changed));
    assert_int_equal(counted(), 24);
    assert_int_equal(kit_check(&kit), 0);
}

static void what_waits_at_the_verdict_does_not_count(void **state) {
    (void)state;
    kit_sql(&kit, "UPDATE tests SET workload = 'fixed', pairs_max = 4");
    assert_true(post_as(quick, 3, 0, "waits"));
    assert_true(post_as(slow, 1, 0, ""));
    assert_true(kit_result_is(&kit, "completed"));
    tick();
    assert_int_equal(counted(), 4);
    assert_int_equal(position(quick, 0), 0);
    assert_true(kit_post(&kit, quick, 3, 0, "2134", &posted));
    assert_string_equal(posted.uncounted, "late");
}

static void what_waited_earns_its_owner_what_others_earn(void **state) {
    (void)state;
    assert_true(post_as(quick, 3, 0, "waits"));
    char *sql = "SELECT count(*) FROM owner_totals WHERE owner = 'user 2'";
    assert_int_equal(kit_int(&kit, "%s", sql), 0);
    assert_true(post_as(slow, 1, 0, ""));
    assert_int_equal(kit_int(&kit, "%s", sql), 1);
}

// Pairs that wait are neither dealt again nor counted as if they were still to be played.
static void pairs_that_wait_are_not_dealt_again(void **state) {
    (void)state;
    kit_sql(&kit, "UPDATE tests SET workload = 'fixed', pairs_max = 16");
    assert_true(post_as(quick, 3, 0, "waits"));
    assert_true(post_as(quick, 3, 1, "waits"));
    assert_int_equal(kit_claim(&kit, 3, 4, 0), 0); // all 16 are dealt
    assert_int_equal(kit_check(&kit), 0);
    assert_true(post_as(slow, 1, 0, "") && post_as(slow, 1, 1, ""));
    assert_true(kit_result_is(&kit, "completed"));
}

// A place that becomes free lets so many count that one turn would take long.
static void a_long_queue_is_counted_in_several_turns(void **state) {
    (void)state;
    enum { QUEUE = 450 };
    kit_sql(&kit, "UPDATE tests SET workload = 'fixed'");
    assert_true(post_as(quick, 3, 0, "waits"));
    kit_sql(&kit,
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
            "INSERT INTO batches (test_id, task_id, worker_id, seq, units, result, tc, speed, "
            "busy, received, due, waits, owner, level) SELECT 1, %lld, 3, 10 + i, 4, b.result, "
            "b.tc, b.speed, b.busy, 1, 1200 + i, 1, b.owner, b.level FROM n, batches b "
            "WHERE b.task_id = %lld",
            QUEUE, (long long)quick, (long long)quick);
    assert_true(ledger_release(&kit.turn, slow, 1, 0, &kit.err));
    assert_true(ledger_release(&kit.turn, quick, 3, 0, &kit.err));
    for (int turns = 0; turns < 3; turns++) {
        assert_true(counted() <= 800 * turns);
        ledger_count_waiting(&kit.turn);
    }
    assert_int_equal(counted(), 4 * (QUEUE + 1));
    assert_int_equal(kit_int(&kit, "SELECT unsettled FROM tests"), 0);
}

static void its_page_says_how_many_wait_and_since_when(void **state) {
    (void)state;
    json_auto_t *row = json_pack("{s:i, s:s}", "id", 1, "state", "active"),
                *over = json_pack("{s:i, s:s}", "id", 1, "state", "finished");
    DocContext ctx = {.db = kit.db, .now = kit.turn.now + 300};
    assert_true(json_is_null(doc_waiting(&ctx, row)));
    assert_true(post_as(quick, 3, 0, "waits"));
    json_auto_t *one = doc_waiting(&ctx, row);
    assert_string_equal(member_text(one, "text"),
                        "1 batch waits to be counted, because one that is due before it is still "
                        "being played. The first came 5\u00a0min ago.");
    assert_true(post_as(quick, 3, 1, "waits"));
    json_auto_t *two = doc_waiting(&ctx, row);
    assert_int_equal(member_int(two, "units"), 8);
    assert_non_null(strstr(member_text(two, "text"), "2 batches wait to be counted"));
    assert_true(json_is_null(doc_waiting(&ctx, over)));
}

// ---- the audit ----------------------------------------------------------------------------------

static void the_audit_sees_a_batch_that_waits_for_none_or_stands_twice(void **state) {
    (void)state;
    static const char *const damages[] = {
        "UPDATE tasks SET due = 1e9 WHERE id = 1", "UPDATE batches SET due = 1 WHERE waits = 1",
        "UPDATE batches SET waits = 0 WHERE waits = 1",
        "INSERT INTO returned_pairs VALUES (1, 8, 4, '')", // that the batch has played
    };
    assert_true(post_as(quick, 3, 0, "waits"));
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        assert_int_equal(kit_check(&kit), 0);
        db_savepoint(kit.db);
        kit_sql(&kit, "CREATE TABLE kept AS SELECT due FROM batches");
        kit_sql(&kit, "%s", damages[i]);
        if (kit_check(&kit) == 0)
            fail_msg("unseen: %s", damages[i]);
        kit_sql(&kit, "UPDATE tasks SET due = 1062 WHERE id = 1");
        kit_sql(&kit, "UPDATE batches SET waits = 1, due = (SELECT due FROM kept)");
        kit_sql(&kit, "DELETE FROM returned_pairs");
        kit_sql(&kit, "DROP TABLE kept");
    }
}

#define WITH_TWO(test) cmocka_unit_test_setup_teardown(test, open_two, close_kit)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_TWO(a_quick_batch_waits_for_the_one_that_is_due_before_it),
        WITH_TWO(one_that_is_due_first_counts_at_once),
        WITH_TWO(even_machines_that_begin_together_count_in_one_order),
        WITH_TWO(a_machine_of_one_core_holds_up_none_of_four),
        WITH_TWO(a_machine_alone_never_waits),
        WITH_TWO(a_place_is_taken_when_the_batch_before_it_comes),
        WITH_TWO(what_was_given_back_is_waited_for_no_more),
        WITH_TWO(no_heartbeat_holds_a_place_longer_than_three_times_its_time),
        WITH_TWO(a_blocked_machine_holds_up_nothing),
        WITH_TWO(a_failure_holds_up_nothing),
        WITH_TWO(places_move_with_the_clock),
        WITH_TWO(batches_of_a_paused_test_take_their_places),
        WITH_TWO(batches_of_a_withdrawn_test_count_when_it_is_approved_again),
        WITH_TWO(an_excluded_batch_takes_its_place_and_does_not_count),
        WITH_TWO(what_waits_at_the_verdict_does_not_count),
        WITH_TWO(what_waited_earns_its_owner_what_others_earn),
        WITH_TWO(pairs_that_wait_are_not_dealt_again),
        WITH_TWO(a_long_queue_is_counted_in_several_turns),
        WITH_TWO(its_page_says_how_many_wait_and_since_when),
        WITH_TWO(the_audit_sees_a_batch_that_waits_for_none_or_stands_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

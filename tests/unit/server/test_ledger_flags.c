// Marks of batches by what their machine was like, what machines are credited with, and fault
// reports of faults: kept within bounds, never twice.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "tests/kit/ledger_kit.h"

static LedgerKit kit;
static BatchReply posted;
static int64_t task;
static json_t *draws;

static int open_task(void **state) {
    (void)state;
    draws = kit_result("2222");
    posted = (BatchReply){0};
    task = kit_open_task(&kit);
    return task > 0 ? 0 : -1;
}

static int close_kit(void **state) {
    (void)state;
    json_decref(draws);
    kit_close(&kit);
    return 0;
}

// ---- flags --------------------------------------------------------------------------------------

static void each_limit_flags_the_batches_beyond_it(void **state) {
    (void)state;
    static const FlagLimits limits = {0.1, 0.25, 64}, none = {NAN, NAN, NAN};
    static const struct {
        double busy;
        Load load;
        const char *flags;
    } cases[] = {
        {0, {.delay = NAN, .steal = NAN, .swap_mib = NAN, .speed = NAN, .speed_before = NAN}, ""},
        {0.1,
         {.delay = 0.1, .steal = 0.1, .swap_mib = 64, .speed = 75, .speed_before = 100},
         ""}, // at the limit is not beyond it
        {0.11,
         {.delay = NAN, .steal = NAN, .swap_mib = NAN, .speed = NAN, .speed_before = NAN},
         "busy"},
        {0, {.delay = 0.11, .speed = NAN, .speed_before = NAN}, "busy"},
        {0, {.steal = 0.2, .speed = NAN, .speed_before = NAN}, "busy"},
        {0, {.speed = 74, .speed_before = 100}, "slow"},
        {0, {.speed = 74, .speed_before = NAN}, ""},
        {0, {.speed = NAN, .speed_before = 100}, ""},
        {0, {.swap_mib = 65, .speed = 100, .speed_before = 100}, "swap"},
        {1, {.delay = 1, .steal = 1, .swap_mib = 1e9, .speed_before = 100}, "busy slow swap"},
    };
    char flags[FLAGS_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        flags_judge(cases[i].busy, &cases[i].load, &limits, flags);
        assert_string_equal(flags, cases[i].flags);
        flags_judge(cases[i].busy, &cases[i].load, &none, flags);
        assert_string_equal(flags, "");
    }
}

static Batch loaded(int64_t seq, Load load) {
    Batch batch = kit_batch(task, 1, seq, draws);
    batch.load = load;
    return batch;
}

static void a_marked_batch_counts_and_the_audit_replays_its_mark(void **state) {
    (void)state;
    Batch batch = loaded(0, (Load){.delay = 0.3, .speed = 70, .speed_before = 100});
    assert_true(ledger_batch(&kit.turn, &batch, &posted, &kit.err));
    assert_true(posted.counted);
    char *flags scope(free_ptr) = kit_text(&kit, "SELECT flags FROM batches");
    assert_string_equal(flags, "busy slow");
    assert_int_equal(kit_check(&kit), 0);
    kit_sql(&kit, "UPDATE batches SET flags = 'busy'");
    assert_int_equal(kit_check(&kit), 1);
}

static void a_test_of_nodes_or_depth_has_no_marks(void **state) {
    (void)state;
    static const char *const controls[] = {"nodes=20000", "depth=8"};
    for (int i = 0; i < 2; i++) {
        Batch batch = loaded(i, (Load){.delay = 0.3, .speed = 70, .speed_before = 100});
        batch.tc = controls[i];
        kit_sql(&kit, "UPDATE sides SET tc = '%s'", controls[i]);
        assert_true(ledger_batch(&kit.turn, &batch, &posted, &kit.err));
    }
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM batches WHERE flags = ''"), 2);
    assert_int_equal(kit_check(&kit), 0);
}

static void a_changed_limit_marks_from_then_on(void **state) {
    (void)state;
    Batch first = loaded(0, (Load){.delay = 0.3, .speed = NAN, .speed_before = NAN}),
          second = loaded(1, first.load);
    assert_true(ledger_batch(&kit.turn, &first, &posted, &kit.err));
    kit_sql(&kit, "INSERT INTO settings VALUES ('flag_busy', '0.5')");
    assert_true(ledger_batch(&kit.turn, &second, &posted, &kit.err));
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM batches WHERE flags = 'busy'"), 1);
    assert_int_equal(kit_check(&kit), 0);
}

static void a_batch_with_another_load_is_another_batch(void **state) {
    (void)state;
    Batch batch = loaded(0, LOAD_UNKNOWN);
    assert_true(ledger_batch(&kit.turn, &batch, &posted, &kit.err));
    assert_true(ledger_batch(&kit.turn, &batch, &posted, &kit.err));
    assert_true(posted.repeat);
    batch.load.delay = 0;
    assert_false(ledger_batch(&kit.turn, &batch, &posted, &kit.err));
    assert_string_equal(kit.err.code, "batch_conflict");
}

// ---- credit -------------------------------------------------------------------------------------

static void machines_of_a_user_are_credited_together(void **state) {
    (void)state;
    kit_sql(&kit, "UPDATE workers SET games = 100 * id");
    Credit of_user = ledger_credit(kit.db, 1), of_nobody = ledger_credit(kit.db, 4);
    assert_int_equal(of_user.games, 300);
    assert_string_equal(of_user.user, "ada");
    assert_int_equal(of_nobody.games, 400);
    assert_string_equal(of_nobody.user, "");
}

// ---- fault reports ------------------------------------------------------------------------------

static char sha[65];

static FaultReport fault_report(int64_t seq, char digit) {
    memset(sha, digit, 64);
    return (FaultReport){.task = task,
                         .worker = 1,
                         .seq = seq,
                         .pair = 3,
                         .game = 1,
                         .side = "new",
                         .end = "crash",
                         .reason = "Black disconnects",
                         .sha256 = sha,
                         .content = "zstd",
                         .content_size = 4};
}

// A batch in which all games ended by a fault: four by crashes, four on time.
static void post_faults(int64_t seq) {
    json_auto_t *result = kit_result_with("2222", "{\"crashes\": 4, \"time_losses\": 4}");
    Batch batch = kit_batch(task, 1, seq, result);
    assert_true(ledger_batch(&kit.turn, &batch, &posted, &kit.err));
}

static bool send(const FaultReport *one) {
    return ledger_fault_report(&kit.turn, one, &kit.err);
}

static void fault_report_is_kept_once(void **state) {
    (void)state;
    FaultReport one = fault_report(0, 'a');
    post_faults(0);
    assert_true(send(&one) && send(&one));
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM fault_reports"), 1);
    FaultReport other = fault_report(0, 'b');
    assert_false(send(&other));
    assert_string_equal(kit.err.code, "fault_conflict");
    one = fault_report(1, 'a');
    one.worker = 2;
    assert_false(send(&one));
    assert_string_equal(kit.err.code, "not_your_task");
}

static void fault_report_is_of_games_that_count_as_faults(void **state) {
    (void)state;
    for (int seq = 0; seq < FAULT_REPORT_OF_TASK; seq++) {
        FaultReport early = fault_report(seq, 'a');
        assert_false(send(&early));
        assert_string_equal(kit.err.code, "fault_unfounded");
    }
    post_faults(0);
    for (int seq = 0; seq < 5; seq++) {
        FaultReport one = fault_report(seq, 'a');
        assert_int_equal(send(&one), seq < 4);
    }
    assert_string_equal(kit.err.message,
                        "batch 0 counts 4 games that ended so (crash), and 4 fault reports of them "
                        "have arrived");
    FaultReport on_time = fault_report(5, 'a'), elsewhere = fault_report(6, 'a');
    on_time.end = "time";
    elsewhere.pair = 4; // of the next batch
    assert_true(send(&on_time));
    assert_false(send(&elsewhere));
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM fault_reports"), 5);
}

// Tasks 100 to 120, ended.
static void add_tasks(void) {
    kit_sql(
        &kit,
        "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 20) "
        "INSERT INTO tasks (id, test_id, worker_id, first_pair, pair_count, side, against, cores, "
        "state, lease_until, created, finished) "
        "SELECT 100 + i, 1, 2, 0, 4, 'new', 'base', 1, 'done', 0, 0, 1 FROM n");
}

static void one_owner_leaves_room_for_others(void **state) {
    (void)state;
    add_tasks();
    kit_sql(&kit,
            "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
            "INSERT INTO fault_reports (test_id, task_id, worker_id, owner, seq, sha256, pair, "
            "game, side, "
            "ending, reason, overloaded, content, received) SELECT 1, id, 2, 'user 1', i %% 10, "
            "printf('%%064d', i), 100 + i, 0, 'new', 'time', '', 0, x'00', 1 FROM n, tasks "
            "WHERE i / 10 = tasks.id - 100",
            FAULT_REPORT_OF_OWNER - 2);
    post_faults(0);
    for (int seq = 0; seq < 3; seq++) {
        FaultReport one = fault_report(seq, 'a'); // machines 1 and 2 are of one user
        assert_true(send(&one));
    }
    assert_int_equal(kit_int(&kit, "SELECT count(content) FROM fault_reports"),
                     FAULT_REPORT_OF_OWNER);
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM fault_reports"),
                     FAULT_REPORT_OF_OWNER + 2);
    kit_sql(&kit, "UPDATE fault_reports SET owner = 'user 2'");
    FaultReport other = fault_report(3, 'a');
    assert_true(send(&other));
    assert_int_equal(kit_int(&kit, "SELECT count(content) FROM fault_reports"),
                     FAULT_REPORT_OF_OWNER + 1);
}

static void fault_report_of_the_wrong_shape_is_refused(void **state) {
    (void)state;
    FaultReport bad[4];
    for (int i = 0; i < 4; i++)
        bad[i] = fault_report(i, 'a');
    bad[0].side = "black";
    bad[1].end = "rule";
    bad[2].game = 2;
    bad[3].pair = 8; // of a task of eight
    static const char *const fields[] = {"side", "end", "game", "pair"};
    for (int i = 0; i < 4; i++) {
        assert_false(send(&bad[i]));
        assert_string_equal(kit.err.field, fields[i]);
    }
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM fault_reports"), 0);
}

static void fault_reports_above_the_limit_of_a_test_are_only_counted(void **state) {
    (void)state;
    add_tasks();
    kit_sql(&kit, "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 198) "
                  "INSERT INTO fault_reports (test_id, task_id, worker_id, owner, seq, sha256, "
                  "pair, game, side, "
                  "ending, reason, overloaded, content, received) SELECT 1, 101 + i / 10, 3, 'user "
                  "2', i %% 10, "
                  "printf('%%064d', i), 0, 0, 'new', 'time', '', 0, x'00', 1 FROM n");
    post_faults(0);
    for (int seq = 0; seq < 3; seq++) {
        FaultReport one = fault_report(seq, 'a');
        assert_true(send(&one));
    }
    assert_int_equal(kit_int(&kit, "SELECT count(content) FROM fault_reports"),
                     FAULT_REPORT_OF_TEST);
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM fault_reports"), FAULT_REPORT_OF_TEST + 2);
}

static void fault_report_does_not_fill_the_disk(void **state) {
    (void)state;
    static char large[256 << 10];
    kit_sql(&kit, "UPDATE tasks SET pair_count = 400");
    for (int seq = 0; seq < FAULT_REPORT_OF_TASK; seq++) {
        FaultReport one = fault_report(seq, 'a');
        if (seq % 4 == 0)
            post_faults(seq / 4);
        one.pair = seq;
        one.content = large;
        one.content_size = sizeof large;
        assert_true(send(&one));
    }
    int kept = FAULT_REPORT_BYTES_OF_OWNER / (int)sizeof large;
    assert_int_equal(kit_int(&kit, "SELECT count(content) FROM fault_reports"), kept);
    kit_sql(&kit, "UPDATE fault_reports SET content = zeroblob(%d) WHERE content IS NOT NULL",
            FAULT_REPORT_BYTES_OF_TEST / kept);
    int64_t next = kit_claim(&kit, 3, 4, 0);
    FaultReport more = fault_report(0, 'a');
    more.task = next;
    more.worker = 3;
    more.pair = kit_int(&kit, "SELECT first_pair FROM tasks WHERE id = %lld", (long long)next);
    more.content = large;
    more.content_size = sizeof large;
    json_auto_t *result = kit_result_with("2222", "{\"crashes\": 1}");
    Batch batch = kit_batch(next, 3, 0, result);
    assert_true(ledger_batch(&kit.turn, &batch, &posted, &kit.err));
    assert_true(send(&more));
    assert_int_equal(kit_int(&kit, "SELECT count(content) FROM fault_reports"), kept);
}

#define WITH_TASK(test) cmocka_unit_test_setup_teardown(test, open_task, close_kit)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_limit_flags_the_batches_beyond_it),
        WITH_TASK(a_marked_batch_counts_and_the_audit_replays_its_mark),
        WITH_TASK(a_test_of_nodes_or_depth_has_no_marks),
        WITH_TASK(a_changed_limit_marks_from_then_on),
        WITH_TASK(a_batch_with_another_load_is_another_batch),
        WITH_TASK(machines_of_a_user_are_credited_together),
        WITH_TASK(fault_report_is_kept_once),
        WITH_TASK(fault_report_is_of_games_that_count_as_faults),
        WITH_TASK(one_owner_leaves_room_for_others),
        WITH_TASK(fault_report_of_the_wrong_shape_is_refused),
        WITH_TASK(fault_reports_above_the_limit_of_a_test_are_only_counted),
        WITH_TASK(fault_report_does_not_fill_the_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

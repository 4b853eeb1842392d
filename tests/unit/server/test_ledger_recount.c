// What can be excluded from a test, and how it is counted again: of a task, a machine, an owner or
// a window of time; and a recount that a reader prepared while batches or exclusions came.
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

static bool undo(int64_t exclusion) {
    Inclusion inclusion = {1, exclusion, 2, ""};
    return ledger_include(&kit.turn, &inclusion, NULL, &changed, &kit.err);
}

static char *stands(void) {
    return kit_text(&kit, "SELECT counts || points || units_counted || ' ' || promise || "
                          "(SELECT group_concat(position || state) FROM history) "
                          "FROM tests WHERE id = 1");
}

// ---- kinds --------------------------------------------------------------------------------------

static bool exclude_kind(Exclusion x) {
    x.test = 1;
    x.user = 2;
    x.which = x.which ? x.which : "all";
    x.reason = "";
    return ledger_exclude(&kit.turn, &x, NULL, &changed, &kit.err);
}

static int64_t wins(void) {
    return kit_int(&kit, "SELECT counts ->> '$.wins' FROM tests WHERE id = 1");
}

// The next batch of a machine that has played its task, or holds it.
static void play_next(int64_t *playing, int64_t worker, const char *outcomes) {
    int64_t seq = kit_int(&kit, "SELECT next_seq FROM tasks WHERE id = %lld", (long long)*playing);
    if (seq == 2)
        *playing = kit_claim(&kit, worker, 4, seq = 0);
    assert_true(kit_post(&kit, *playing, worker, seq, outcomes, &posted));
}

// Two batches of machine 1 that come 2000 s apart, one of machine 3 in between.
static int64_t play_three(void) {
    int64_t other = kit_claim(&kit, 3, 4, 0);
    kit_sql(&kit, "UPDATE tasks SET lease_until = 1e12, batch_until = 1e12");
    assert_true(kit_post(&kit, task, 1, 0, "4444", &posted));
    kit.turn.now += 1000;
    assert_true(kit_post(&kit, other, 3, 0, "4433", &posted));
    kit.turn.now += 1000;
    assert_true(kit_post(&kit, task, 1, 1, "4333", &posted));
    assert_int_equal(wins(), 8 + 6 + 5);
    return other;
}

static void a_task_a_machine_an_owner_and_a_window_are_excluded_and_counted_again(void **state) {
    (void)state;
    int64_t other = play_three();
    char *before scope(free_ptr) = stands();
    const struct {
        Exclusion exclusion;
        int64_t wins;
    } cases[] = {
        {{.kind = "task", .task = other}, 13},
        {{.kind = "task", .task = task}, 6},
        {{.kind = "machine", .worker = 3}, 13},
        {{.kind = "owner", .worker = 1}, 6},
        {{.kind = "window", .since = kit.turn.now - 1000, .until = kit.turn.now}, 13},
        {{.kind = "window", .since = kit.turn.now - 2000, .until = kit.turn.now - 1000}, 11},
        {{.kind = "window", .since = 0, .until = kit.turn.now - 1}, 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(exclude_kind(cases[i].exclusion));
        assert_int_equal(wins(), cases[i].wins);
        assert_int_equal(kit_check(&kit), 0);
        assert_true(undo((int64_t)i + 1));
        char *after scope(free_ptr) = stands();
        assert_string_equal(before, after);
        assert_int_equal(kit_check(&kit), 0);
    }
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM events WHERE type = 'excluded'"),
                     2 * sizeof cases / sizeof *cases);
    assert_int_equal(
        kit_int(&kit,
                "SELECT count(*) FROM events WHERE message IN ("
                "'all batches of task %lld are excluded: 4 pairs', "
                "'the exclusion of batches of task %lld was undone: 4 pairs count again', "
                "'all batches that arrived from 1970-01-01 00:00:00 to before ' || "
                "strftime('%%Y-%%m-%%d %%H:%%M:%%S', %.0f, 'unixepoch') || "
                "' UTC are excluded: 8 pairs')",
                (long long)other, (long long)other, kit.turn.now - 1),
        3);
}

static void later_batches_of_an_owner_do_not_count_and_those_after_a_window_do(void **state) {
    (void)state;
    int64_t other = play_three();
    assert_true(exclude_kind(
        (Exclusion){.kind = "window", .since = kit.turn.now - 2000, .until = kit.turn.now}));
    play_next(&other, 3, "4444");
    assert_true(posted.counted);
    assert_int_equal(wins(), 5 + 8);
    assert_true(exclude_kind((Exclusion){.kind = "owner", .worker = 3}));
    play_next(&other, 3, "4444");
    assert_false(posted.counted);
    assert_int_equal(wins(), 5);
    assert_int_equal(kit_check(&kit), 0);
}

static void an_exclusion_of_a_wrong_kind_says_what_is_wrong(void **state) {
    (void)state;
    play_three();
    const struct {
        Exclusion exclusion;
        const char *code, *field;
    } cases[] = {
        {{.kind = "engine", .worker = 1}, "bad_request", "kind"},
        {{.kind = "task", .task = 99}, "no_such_task", "task"},
        {{.kind = "task", .worker = 1}, "no_such_task", "task"},
        {{.kind = "owner", .worker = 99}, "no_such_machine", "worker"},
        {{.kind = "owner", .worker = 2}, "nothing_to_exclude", "which"},
        {{.kind = "window", .since = 5, .until = 5}, "bad_request", "to"},
        {{.kind = "window", .since = 5, .until = NAN}, "bad_request", "to"},
        {{.kind = "window", .since = 5, .until = kit.turn.now + 1}, "bad_request", "to"},
        {{.kind = "window", .since = 5, .until = 6}, "nothing_to_exclude", "which"},
        {{.kind = "machine", .worker = 1, .which = "flagged"}, "nothing_to_exclude", "which"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_false(exclude_kind(cases[i].exclusion));
        assert_string_equal(kit.err.code, cases[i].code);
        assert_string_equal(kit.err.field, cases[i].field);
    }
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM exclusions"), 0);
}

// ---- recounts that a reader prepared ------------------------------------------------------------

static const Exclusion of_machine_3 = {
    .test = 1, .user = 2, .kind = "machine", .worker = 3, .which = "all", .reason = ""};

static void batches_that_come_during_a_recount_are_counted_on_top(void **state) {
    (void)state;
    int64_t other = play_three();
    Recount *prepared = ledger_exclude_prepare(&kit.turn, &of_machine_3, &kit.err);
    assert_non_null(prepared);
    play_next(&other, 3, "4444");
    play_next(&task, 1, "4444");
    assert_true(ledger_exclude(&kit.turn, &of_machine_3, prepared, &changed, &kit.err));
    ledger_recount_free(prepared);
    assert_int_equal(changed.batches, 2);
    assert_int_equal(wins(), 13 + 8);
    assert_int_equal(kit_check(&kit), 0);
    Inclusion inclusion = {1, 1, 2, ""};
    prepared = ledger_include_prepare(&kit.turn, 1, 1, &kit.err);
    play_next(&other, 3, "4444");
    play_next(&task, 1, "4444");
    assert_true(ledger_include(&kit.turn, &inclusion, prepared, &changed, &kit.err));
    ledger_recount_free(prepared);
    assert_int_equal(changed.batches, 3);
    assert_int_equal(wins(), 19 + 16 + 16);
    assert_int_equal(kit_check(&kit), 0);
}

static void a_recount_is_void_if_the_exclusions_changed_meanwhile(void **state) {
    (void)state;
    play_three();
    Recount *prepared = ledger_exclude_prepare(&kit.turn, &of_machine_3, &kit.err);
    assert_true(kit_exclude(&kit, 1, 1, "all", &changed));
    assert_false(ledger_exclude(&kit.turn, &of_machine_3, prepared, &changed, &kit.err));
    assert_string_equal(kit.err.code, "changed");
    ledger_recount_free(prepared);
    prepared = ledger_exclude_prepare(&kit.turn, &of_machine_3, &kit.err);
    assert_true(undo(1));
    assert_false(ledger_exclude(&kit.turn, &of_machine_3, prepared, &changed, &kit.err));
    assert_string_equal(kit.err.code, "changed");
    ledger_recount_free(prepared);
    assert_int_equal(wins(), 19);
    assert_int_equal(kit_check(&kit), 0);
}

static void a_verdict_that_comes_during_a_recount_stays(void **state) {
    (void)state;
    kit_sql(&kit, "UPDATE tests SET workload = 'fixed'");
    int64_t other = play_three();
    Recount *prepared = ledger_exclude_prepare(&kit.turn, &of_machine_3, &kit.err);
    kit_sql(&kit, "UPDATE tests SET pairs_max = 8");
    play_next(&other, 3, "4444");
    assert_true(kit_result_is(&kit, "completed"));
    assert_true(ledger_exclude(&kit.turn, &of_machine_3, prepared, &changed, &kit.err));
    ledger_recount_free(prepared);
    assert_true(kit_result_is(&kit, "completed"));
    assert_int_equal(wins(), 13);
    assert_int_equal(kit_check(&kit), 0);
}

#define WITH_TASK(test) cmocka_unit_test_setup_teardown(test, open_task, close_kit)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_TASK(a_task_a_machine_an_owner_and_a_window_are_excluded_and_counted_again),
        WITH_TASK(later_batches_of_an_owner_do_not_count_and_those_after_a_window_do),
        WITH_TASK(an_exclusion_of_a_wrong_kind_says_what_is_wrong),
        WITH_TASK(batches_that_come_during_a_recount_are_counted_on_top),
        WITH_TASK(a_recount_is_void_if_the_exclusions_changed_meanwhile),
        WITH_TASK(a_verdict_that_comes_during_a_recount_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

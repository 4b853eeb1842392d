// The reference speed of an engine, from what a machine measured for its tasks.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "server/cli/engine_reference.h"
#include "tests/kit/ledger_kit.h"

static const char commit[] = "1111111111111111111111111111111111111111";
static LedgerKit kit;
static Reference reference;

static int open_unscaled(void **state) {
    (void)state;
    int64_t task = kit_open_task(&kit);
    kit_sql(&kit, "UPDATE sides SET tc = 'nodes=1000'");
    return ledger_release(&kit.turn, task, 1, 0, &kit.err) ? 0 : -1;
}

static int close_kit(void **state) {
    (void)state;
    reference_release(&reference);
    reference = (Reference){0};
    kit_close(&kit);
    return 0;
}

static void play(int64_t worker, double speed, int batches) {
    BatchReply posted;
    json_auto_t *even = kit_result("0044"); // decides nothing
    int64_t task = kit_claim(&kit, worker, 4, 0);
    for (int seq = 0; seq < batches; seq++) {
        Batch batch = kit_batch(task, worker, seq, even);
        batch.tc = "nodes=1000";
        batch.speed = speed;
        if (!ledger_batch(&kit.turn, &batch, &posted, &kit.err))
            fail_msg("%s", kit.err.message);
    }
    assert_true(ledger_release(&kit.turn, task, worker, 0, &kit.err));
}

static bool measured(int64_t worker, const char *sha) {
    reference_release(&reference);
    reference = (Reference){0};
    return reference_measured(kit.db, 1, sha, worker, &reference, &kit.err);
}

static void it_is_the_median_of_the_last_nine_tasks(void **state) {
    (void)state;
    play(1, 9e5, 1);
    play(1, 9e5, 1); // older
    for (int i = 1; i <= 4; i++)
        play(1, 1e5 + i, 1);
    play(1, 2e5, 1);
    for (int i = 1; i <= 4; i++)
        play(1, 3e5 + i, 1);
    play(3, 7e5, 1); // another machine
    assert_true(measured(1, commit));
    assert_float_equal(reference.speed, 2e5, 0.1);
    assert_true(measured(3, commit));
    assert_float_equal(reference.speed, 7e5, 0.1);
}

static void a_task_of_many_batches_is_one(void **state) {
    (void)state;
    play(1, 3e5, 2);
    play(1, 1e5, 1);
    assert_true(measured(1, commit));
    assert_float_equal(reference.speed, 1e5, 0.1);
}

static void a_speed_with_another_commit_is_none(void **state) {
    (void)state;
    play(1, 9e5, 1);
    kit_sql(&kit, "UPDATE engines SET reference_commit = "
                  "'2222222222222222222222222222222222222222'");
    assert_false(measured(1, "2222222222222222222222222222222222222222"));
    assert_string_equal(kit.err.code, "not_found");
    assert_false(measured(2, commit));
    assert_false(measured(99, commit));
    assert_true(measured(1, commit));
}

static void the_machine_is_named_in_visible_words(void **state) {
    (void)state;
    kit_sql(&kit, "UPDATE workers SET name = 'iron' || char(27) || '[2J', host = "
                  "json_set(host, '$.cpu', 'EPYC') WHERE id = 1");
    play(1, 9e5, 1);
    assert_true(measured(1, commit));
    assert_string_equal(reference.machine, "iron\\x1b[2J (EPYC, 4 cores)");
}

static void a_given_speed_needs_a_machine(void **state) {
    (void)state;
    static const char *const wrong[] = {"", "fast", "999", "1e13", "nan", "-5000", "1000 "};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(reference_given(wrong[i], "a machine", &reference, &kit.err));
    assert_false(reference_given("5000", NULL, &reference, &kit.err));
    assert_false(reference_given("5000", "", &reference, &kit.err));
    assert_false(reference_given("5000", "two\nlines", &reference, &kit.err));
    assert_null(reference.machine);
    assert_true(reference_given("5000", "a machine", &reference, &kit.err));
    assert_string_equal(reference.machine, "a machine");
}

int main(void) {
#define PLAYED(test) cmocka_unit_test_setup_teardown(test, open_unscaled, close_kit)
    const struct CMUnitTest tests[] = {
        PLAYED(it_is_the_median_of_the_last_nine_tasks),
        PLAYED(a_task_of_many_batches_is_one),
        PLAYED(a_speed_with_another_commit_is_none),
        PLAYED(the_machine_is_named_in_visible_words),
        PLAYED(a_given_speed_needs_a_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

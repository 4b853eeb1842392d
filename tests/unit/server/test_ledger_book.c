// The end of a book: a test whose games would repeat ends there, another one begins again, and no
// opening of the first is played twice or lost.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "tests/kit/ledger_kit.h"

static LedgerKit kit;
static BatchReply posted;
static TaskReply reply;

enum { OPENINGS = 18, DEALT = 16 }; // batches have 4 pairs

static int open_kit(void **state) {
    (void)state;
    posted = (BatchReply){0};
    if (!kit_open(&kit))
        return -1;
    kit_sql(&kit, "UPDATE books SET openings = %d", OPENINGS);
    kit_sql(&kit, "UPDATE sides SET tc = 'nodes=1000'");
    kit_activate(&kit, 1);
    return 0;
}

static int close_kit(void **state) {
    (void)state;
    kit_close(&kit);
    return 0;
}

static int64_t batches_of(int64_t task) {
    return kit_int(&kit, "SELECT pair_count / 4 FROM tasks WHERE id = %lld", (long long)task);
}

static void post(int64_t task, int64_t worker, int64_t seq) {
    json_auto_t *result = kit_result("2222");
    Batch batch = kit_batch(task, worker, seq, result);
    batch.tc = "nodes=1000";
    if (!ledger_batch(&kit.turn, &batch, &posted, &kit.err))
        fail_msg("%s", kit.err.message);
}

// A worker claims and plays whole tasks, at most `most`. Returns how many it got.
static int play(int64_t worker, int most) {
    int tasks = 0;
    for (int64_t task; tasks < most && (task = kit_claim(&kit, worker, 4, 0)) > 0; tasks++) {
        int64_t batches = batches_of(task);
        for (int64_t seq = 0; seq < batches; seq++)
            post(task, worker, seq);
        kit_turn(&kit);
    }
    return tasks;
}

static void check_spent(int pairs) {
    assert_true(kit_result_is(&kit, "undecided"));
    char *reason scope(free_ptr) = kit_text(&kit, "SELECT reason FROM tests");
    char games[40];
    snprintf(games, sizeof games, "after %d games", 2 * pairs);
    assert_int_equal(strncmp(reason, "the book is spent: LLR", 22), 0);
    assert_non_null(strstr(reason, games));
    assert_int_equal(kit_int(&kit, "SELECT next_pair FROM tests"), DEALT);
    assert_int_equal(kit_check(&kit), 0);
}

static void a_test_whose_games_repeat_ends_with_its_book(void **state) {
    (void)state;
    assert_in_range(play(1, 100), 1, 4);
    check_spent(DEALT);
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM events WHERE type = 'wrapped'"), 0);
    assert_int_equal(
        kit_int(&kit,
                "SELECT count(*) FROM events WHERE type = 'verdict' AND message LIKE '%%spent%%'"),
        1);
}

static void a_test_under_a_clock_begins_the_book_again_and_says_so_once(void **state) {
    (void)state;
    static const char *const changes[] = {
        "UPDATE sides SET tc = '10+0.1' WHERE side = 'base'",
        "UPDATE sides SET threads = 2 WHERE side = 'new'",
    };
    for (size_t i = 0; i < 2; i++) {
        close_kit(NULL);
        open_kit(NULL);
        kit_sql(&kit, "%s", changes[i]);
        while (kit_int(&kit, "SELECT next_pair FROM tests") <= OPENINGS) {
            assert_int_equal(kit_int(&kit, "SELECT count(*) FROM events WHERE type = 'wrapped'"),
                             0);
            assert_int_equal(play(1, 1), 1);
        }
        assert_true(kit_result_is(&kit, ""));
        while (kit_int(&kit, "SELECT next_pair FROM tests") <= 3 * OPENINGS)
            assert_int_equal(play(1, 1), 1);
        assert_int_equal(kit_int(&kit, "SELECT count(*) FROM events WHERE type = 'wrapped'"), 1);
        char *text scope(free_ptr) = kit_text(&kit, "SELECT message FROM events WHERE type = "
                                                    "'wrapped'");
        assert_non_null(strstr(text, "all 18 openings of the book"));
        assert_int_equal(kit_check(&kit), 0);
    }
}

// The machine that began the pairs may play them again: their games are the same again.
static void openings_that_return_are_played_before_the_book_is_spent(void **state) {
    (void)state;
    int64_t lost = kit_claim(&kit, 1, 4, 0);
    assert_true(kit_heartbeat(&kit, lost, 1, "play", 5, 4, &reply));
    kit.turn.now += 100000;
    ledger_expire(&kit.turn);
    kit_turn(&kit);
    assert_true(kit_int(&kit, "SELECT sum(pair_count) FROM returned_pairs WHERE owner <> ''") > 0);
    play(1, 100);
    check_spent(DEALT);
    assert_int_equal(kit_int(&kit, "SELECT count(DISTINCT first_pair + 4 * seq) FROM batches b "
                                   "JOIN tasks k ON k.id = b.task_id"),
                     DEALT / 4);
}

static bool exclude(int64_t worker) {
    Excluded changed;
    return kit_exclude(&kit, 1, worker, "all", &changed);
}

static void the_openings_of_an_excluded_machine_are_spent(void **state) {
    (void)state;
    Excluded changed;
    assert_int_equal(play(3, 1), 1);
    int counted = (int)kit_int(&kit, "SELECT units_counted FROM tests");
    assert_true(exclude(3));
    assert_true(kit_result_is(&kit, ""));
    kit_turn(&kit);
    assert_int_equal(kit_claim(&kit, 3, 4, 0), 0); // nor may it waste others
    play(1, 100);
    check_spent(DEALT - counted);
    assert_true(kit_include(&kit, 1, 3, &changed));
    assert_int_equal(kit_int(&kit, "SELECT units_counted FROM tests"), DEALT);
    assert_true(kit_result_is(&kit, "undecided"));
    assert_int_equal(kit_check(&kit), 0);
}

// The last batch does not count, and no other will come.
static void a_last_batch_that_is_excluded_ends_the_test(void **state) {
    (void)state;
    int64_t mine = kit_claim(&kit, 3, 4, 0), batches = batches_of(mine);
    for (int64_t seq = 0; seq + 1 < batches; seq++)
        post(mine, 3, seq);
    kit_turn(&kit);
    play(1, 100);
    assert_true(kit_result_is(&kit, ""));
    if (batches == 1)
        kit_sql(&kit, "INSERT INTO exclusions (test_id, kind, worker_id, which, reason, created) "
                      "VALUES (1, 'machine', 3, 'all', '', 1)");
    else
        assert_true(exclude(3));
    post(mine, 3, batches - 1);
    assert_false(posted.counted);
    check_spent((int)(DEALT - 4 * batches));
}

// It has its estimate, only from fewer games.
static void a_fixed_test_whose_book_is_spent_is_completed(void **state) {
    (void)state;
    kit_sql(&kit, "UPDATE tests SET workload = 'fixed', parameters = '{}'");
    play(1, 100);
    assert_true(kit_result_is(&kit, "completed"));
    char *reason scope(free_ptr) = kit_text(&kit, "SELECT reason FROM tests");
    assert_int_equal(strncmp(reason, "the book is spent: Elo", 22), 0);
    assert_int_equal(kit_check(&kit), 0);
}

static void the_audit_finds_a_test_that_goes_on_without_openings(void **state) {
    (void)state;
    play(1, 100);
    kit_sql(&kit, "UPDATE tests SET state = 'active', result = NULL, finished = NULL");
    assert_int_equal(kit_check(&kit), 1);
    kit_sql(&kit, "UPDATE books SET openings = 12");
    assert_true(kit_check(&kit) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_test_whose_games_repeat_ends_with_its_book, open_kit,
                                        close_kit),
        cmocka_unit_test_setup_teardown(a_test_under_a_clock_begins_the_book_again_and_says_so_once,
                                        open_kit, close_kit),
        cmocka_unit_test_setup_teardown(openings_that_return_are_played_before_the_book_is_spent,
                                        open_kit, close_kit),
        cmocka_unit_test_setup_teardown(the_openings_of_an_excluded_machine_are_spent, open_kit,
                                        close_kit),
        cmocka_unit_test_setup_teardown(a_last_batch_that_is_excluded_ends_the_test, open_kit,
                                        close_kit),
        cmocka_unit_test_setup_teardown(a_fixed_test_whose_book_is_spent_is_completed, open_kit,
                                        close_kit),
        cmocka_unit_test_setup_teardown(the_audit_finds_a_test_that_goes_on_without_openings,
                                        open_kit, close_kit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

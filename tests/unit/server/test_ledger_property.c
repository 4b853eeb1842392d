// Random lives of four machines that claim, heartbeat, post, repeat, fall silent, come back late,
// give back and fail, on a test that is paused and resumed meanwhile. Whatever they do: no pair
// counts twice, none is lost, and a replay of the log is what the tests say of themselves.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "tests/kit/dice.h"
#include "tests/kit/ledger_kit.h"

enum { WORKERS = 4, TASKS = 400, BATCH = 4, STEPS = 600, LIVES = 12 };

typedef struct Known {
    int64_t id, worker, first, pairs, seq, plies, started_pairs;
    char last[BATCH + 1];
} Known;

static LedgerKit kit;
static Known known[TASKS];
static int known_count;
static BatchReply posted;
static TaskReply reply;

static int open_kit(void **state) {
    (void)state;
    known_count = 0;
    return kit_open(&kit) ? 0 : -1;
}

static int close_kit(void **state) {
    (void)state;
    kit_close(&kit);
    return 0;
}

static Known *pick(void) {
    return known_count ? &known[known_count - 1 - roll(known_count < 12 ? known_count : 12)] : NULL;
}

static void do_claim(void) {
    Known *held = roll(3) ? pick() : NULL;
    int64_t worker = 1 + roll(WORKERS);
    int64_t id = kit_claim(&kit, worker, 1 + roll(16), held ? held->id : 0);
    if (id <= 0 || known_count == TASKS)
        return;
    known[known_count++] = (Known){
        id,
        worker,
        kit_int(&kit, "SELECT first_pair FROM tasks WHERE id = %lld", (long long)id),
        kit_int(&kit, "SELECT pair_count FROM tasks WHERE id = %lld", (long long)id),
        0,
        0,
        0,
        "",
    };
}

static void do_heartbeat(Known *task) {
    task->plies += roll(50);
    if (task->started_pairs < task->pairs)
        task->started_pairs += roll(task->pairs - task->started_pairs + 1) / 2;
    assert_true(kit_heartbeat(&kit, task->id, task->worker, "play", task->plies,
                              task->started_pairs, &reply));
}

// The pairs that count, each once.
static int64_t counted_pairs(void) {
    int64_t batches = kit_int(&kit, "SELECT count(*) FROM batches WHERE position IS NOT NULL");
    assert_int_equal(kit_int(&kit, "SELECT count(DISTINCT k.first_pair + b.seq * 4) FROM batches b "
                                   "JOIN tasks k ON k.id = b.task_id WHERE b.position IS NOT NULL"),
                     batches);
    return BATCH * batches;
}

static void do_post(Known *task) {
    if (task->seq * BATCH >= task->pairs)
        return;
    for (int i = 0; i < BATCH; i++)
        task->last[i] = (char)('0' + roll(5));
    assert_true(kit_post(&kit, task->id, task->worker, task->seq, task->last, &posted));
    assert_false(posted.repeat);
    task->seq++;
    assert_int_equal(posted.units, counted_pairs());
}

static void do_repeat(Known *task) {
    if (!task->seq)
        return;
    assert_true(kit_post(&kit, task->id, task->worker, task->seq - 1, task->last, &posted));
    assert_true(posted.repeat);
    assert_int_equal(posted.units, counted_pairs());
}

static void do_fail(Known *task) {
    Failure failure = {.task = task->id,
                       .worker = task->worker,
                       .started_pairs = roll(9),
                       .kind = "machine",
                       .side = "",
                       .message = "fan",
                       .log = ""};
    assert_true(ledger_fail(&kit.turn, &failure, &kit.err));
}

static void do_time(void) {
    kit.turn.now += roll(4) ? roll(20) : roll(500);
    ledger_expire(&kit.turn);
    ledger_count_waiting(&kit.turn);
}

static void do_pause(void) {
    if (!ledger_test_pause(&kit.turn, 1, 2, &kit.err))
        assert_true(ledger_test_resume(&kit.turn, 1, 2, &kit.err));
}

// Out and back again: nothing may have changed, but that the test may have been decided meanwhile
// where it stood on the brink, which the bounds of these lives never allow.
static void do_exclude(void) {
    Excluded gone, back;
    int64_t worker = 1 + roll(WORKERS);
    if (!kit_exclude(&kit, 1, worker, "all", &gone))
        return;
    assert_int_equal(kit_check(&kit), 0);
    assert_true(kit_include(&kit, 1, worker, &back));
    assert_int_equal(gone.pairs, back.pairs);
}

static void step(void) {
    Known *task = pick();
    int what = roll(100);
    if (!task || what < 15)
        do_claim();
    else if (what < 30)
        do_heartbeat(task);
    else if (what < 70)
        do_post(task);
    else if (what < 78)
        do_repeat(task);
    else if (what < 84)
        assert_true(
            ledger_release(&kit.turn, task->id, task->worker, roll(task->pairs + 1), &kit.err));
    else if (what < 86)
        do_fail(task);
    else if (what < 87)
        do_exclude();
    else if (what < 97)
        do_time();
    else
        do_pause();
}

static void live(uint64_t seed, const char *workload) {
    dice = seed;
    kit_activate(&kit, 1);
    kit_sql(&kit, "INSERT INTO settings VALUES ('task_seconds', '155')");
    kit_sql(&kit,
            "UPDATE tests SET workload = '%s', pairs_max = 400, "
            "parameters = json_set(parameters, '$.elo0', 0.0, '$.elo1', 0.001)",
            workload);
    for (int i = 0; i < STEPS; i++) {
        step();
        if (i % 50 == 0)
            assert_int_equal(kit_check(&kit), 0);
    }
    assert_int_equal(kit_check(&kit), 0);
}

// What is left is played by one machine alone: then everything that was to be played was.
static void play_to_the_end(const char *end) {
    Error ignored;
    ledger_test_resume(&kit.turn, 1, 2, &ignored);
    kit.turn.now += 5000;
    ledger_expire(&kit.turn);
    ledger_count_waiting(&kit.turn);
    for (int i = 0; i < 200 && kit_int(&kit, "SELECT state = 'active' FROM tests"); i++) {
        known_count = 0;
        kit.turn.now += 4000; // machines that rested are back
        do_claim();
        while (known_count && known[0].seq * BATCH < known[0].pairs)
            do_post(&known[0]);
    }
    char *result scope(free_ptr) = kit_text(&kit, "SELECT result FROM tests");
    assert_non_null(result);
    assert_string_equal(result, end);
    assert_true(counted_pairs() >= 400);
    assert_int_equal(kit_check(&kit), 0);
}

static void no_pair_counts_twice_and_none_is_lost(void **state) {
    for (uint64_t seed = 1; seed <= LIVES; seed++) {
        live(seed * 7919, seed % 2 ? "sprt" : "fixed");
        play_to_the_end(seed % 2 ? "undecided" : "completed");
        assert_int_equal(close_kit(state), 0);
        assert_int_equal(open_kit(state), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_pair_counts_twice_and_none_is_lost, open_kit, close_kit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

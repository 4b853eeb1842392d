// Random lives of a public server's machines: of vouched, recorded and unproven owners. They claim,
// post in any order, fall silent, come back late and give back; in some lives their batches are
// excluded and included again. The shares of shares.h hold after each counted batch, or else no
// verdict is given.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "tests/kit/dice.h"
#include "tests/kit/ledger_kit.h"

enum { WORKERS = 8, TASKS = 2000, BATCH = 4, STEPS = 1600, LIVES = 4 };

typedef struct Known {
    int64_t id, worker, pairs, seq;
} Known;

static LedgerKit kit;
static Known known[TASKS];
static int known_count;

// Machines 1 and 2 are those of the author, who has a role; 3 and 5 are of vouched owners, 6 and 7
// of recorded ones, 4 and 8 have no account.
static int open_kit(void **state) {
    (void)state;
    known_count = 0;
    if (!kit_open(&kit))
        return -1;
    kit_sql(&kit, "INSERT INTO settings VALUES ('trust', 'public'), ('task_seconds', '155')");
    kit_sql(&kit, "INSERT INTO users (id, name, password, created) VALUES (4, 'dan', 'x', 1), "
                  "(5, 'eve', 'x', 1)");
    kit_sql(&kit, "INSERT INTO roles VALUES (1, 1, 'developer')");
    kit_sql(&kit, "INSERT INTO vouches (owner, user_id, reason, created) VALUES ('user 2', 3, '', "
                  "1), ('network n5', 3, '', 1)");
    kit_sql(&kit, "INSERT INTO records VALUES ('user 4', 1), ('user 5', 1)");
    kit_machines(&kit, 5, WORKERS);
    kit_sql(&kit, "UPDATE workers SET user_id = id - 2 WHERE id IN (6, 7)");
    return 0;
}

static int close_kit(void **state) {
    (void)state;
    kit_close(&kit);
    return 0;
}

static void do_claim(int64_t worker) {
    int64_t id = kit_claim(&kit, worker, 4, 0);
    if (id > 0 && known_count < TASKS)
        known[known_count++] = (Known){
            id, worker,
            kit_int(&kit, "SELECT pair_count FROM tasks WHERE id = %lld", (long long)id), 0};
}

// The tasks of a machine are told as held, so a claim ends none.
static Known *pick(void) {
    return known_count ? &known[known_count - 1 - roll(known_count < 30 ? known_count : 30)] : NULL;
}

static void do_post(Known *task) {
    BatchReply posted;
    char outcomes[BATCH + 1] = "";
    if (task->seq * BATCH >= task->pairs)
        return;
    for (int i = 0; i < BATCH; i++)
        outcomes[i] = (char)('1' + roll(3));
    assert_true(kit_post(&kit, task->id, task->worker, task->seq, outcomes, &posted));
    task->seq++;
}

static void do_exclude(void) {
    Excluded changed;
    int64_t worker = 1 + roll(WORKERS);
    if (!kit_exclude(&kit, 1, worker, "all", &changed))
        (void)kit_include(&kit, 1, worker, &changed);
}

static void step(bool excluding) {
    Known *task = pick();
    int what = roll(100);
    if (!task || what < 30)
        do_claim(1 + roll(WORKERS));
    else if (what < 80)
        do_post(task);
    else if (what < 86)
        assert_true(
            ledger_release(&kit.turn, task->id, task->worker, roll(task->pairs + 1), &kit.err));
    else if (what < 90 && excluding)
        do_exclude();
    else {
        kit.turn.now += roll(3) ? roll(20) : roll(900);
        ledger_expire(&kit.turn);
    }
}

// The batches after which a share is too large, by a formula of its own.
static int64_t broken_prefixes(void) {
    return kit_int(
        &kit,
        "SELECT count(*) FROM (SELECT sum(iif(level = 0, units, 0)) OVER w AS u, "
        "sum(iif(level = 1, units, 0)) OVER w AS r, sum(units) OVER w AS n "
        "FROM counted_batches WINDOW w AS (ORDER BY position)) WHERE 3 * r > n - u OR 20 * u > n");
}

static void begin(uint64_t seed, const char *elo1) {
    dice = seed;
    kit_activate(&kit, 1);
    kit_sql(&kit,
            "UPDATE tests SET pairs_max = 40000, parameters = json_set(parameters, '$.elo0', 0.0, "
            "'$.elo1', %s)",
            elo1);
}

static void the_shares_hold_after_each_counted_batch(void **state) {
    int64_t lesser = 0;
    for (uint64_t seed = 1; seed <= LIVES; seed++) {
        begin(seed * 7919, "0.001");
        for (int i = 0; i < STEPS; i++)
            step(false);
        assert_int_equal(broken_prefixes(), 0);
        lesser += kit_int(&kit, "SELECT count(*) FROM batches WHERE position > 0 AND level = 0");
        assert_true(kit_int(&kit, "SELECT units_recorded FROM tests") > 0);
        assert_int_equal(kit_check(&kit), 0);
        assert_int_equal(close_kit(state), 0);
        assert_int_equal(open_kit(state), 0);
    }
    assert_true(lesser > 0); // so the twentieth was tried as well
}

// 1: the results decide the test. 2: the shares do not hold. 4: the test is open.
static int64_t state_of_test(void) {
    return kit_int(&kit, "SELECT (coalesce(counts ->> '$.sprt.verdict', 0) <> 0 AND counts ->> "
                         "'$.sprt.verdict' = coalesce(counts ->> '$.proven.sprt.verdict', counts "
                         "->> '$.sprt.verdict') OR coalesce(counts ->> '$.proven.decides', 0) AND "
                         "counts ->> '$.proven.sprt.verdict' <> 0) + 2 * (3 * "
                         "units_recorded > units_counted - units_unproven OR 20 * units_unproven > "
                         "units_counted) + 4 * (result IS NULL) FROM tests");
}

static void no_verdict_is_given_while_they_do_not_hold(void **state) {
    int ended = 0;
    for (uint64_t seed = 1; seed <= 2 * LIVES; seed++) {
        begin(seed * 104729, "140.0");
        kit_sql(&kit, "UPDATE tests SET parameters = json_set(parameters, '$.elo0', 100.0)");
        int64_t now = 4;
        for (int i = 0; i < STEPS && now & 4; i++) {
            step(true);
            now = state_of_test();
            assert_true(now == 1 || (now & 4 && now != 5));
        }
        ended += now == 1;
        assert_int_equal(kit_check(&kit), 0);
        assert_int_equal(close_kit(state), 0);
        assert_int_equal(open_kit(state), 0);
    }
    assert_true(ended > 0);
}

// The machine plays until so many batches of it were sent.
static void play(int64_t worker, int batches) {
    while (batches) {
        int at = known_count;
        do_claim(worker);
        assert_int_equal(known_count, at + 1);
        for (; batches && known[at].seq * BATCH < known[at].pairs; batches--)
            do_post(&known[at]);
    }
}

static void after_an_exclusion_the_verdict_waits_for_vouched_pairs(void **state) {
    (void)state;
    Excluded changed;
    begin(1, "0.001");
    play(1, 10);
    play(3, 30);
    play(6, 20);
    assert_true(kit_exclude(&kit, 1, 3, "all", &changed));
    assert_int_equal(state_of_test(), 6);
    kit_sql(&kit, "UPDATE tests SET parameters = json_set(parameters, '$.elo1', 230.0, '$.elo0', "
                  "200.0)");
    play(5, 1);
    assert_int_equal(state_of_test(), 7); // rejected, by 11 batches of vouched owners of 31
    int64_t none = known_count;
    do_claim(6);
    assert_int_equal(known_count, none);
    play(5, 28);
    assert_int_equal(state_of_test(), 7);
    play(5, 1);
    assert_int_equal(state_of_test(), 1);
    assert_true(kit_result_is(&kit, "rejected"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_shares_hold_after_each_counted_batch, open_kit,
                                        close_kit),
        cmocka_unit_test_setup_teardown(after_an_exclusion_the_verdict_waits_for_vouched_pairs,
                                        open_kit, close_kit),
        cmocka_unit_test_setup_teardown(no_verdict_is_given_while_they_do_not_hold, open_kit,
                                        close_kit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

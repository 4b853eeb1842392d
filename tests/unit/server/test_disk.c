// Room on the disk: how much is to stay free, which games are dropped first, and which blobs may
// go.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "server/ledger/disk_policy.h"
#include "server/storage/blob.h"
#include "sql/core.h"
#include "tests/kit/ledger_kit.h"

static const int64_t mib = 1 << 20;
static const Disk low = {1000LL << 20, 100000LL << 20, 600LL << 20};
static LedgerKit kit;

static int open_kit(void **state) {
    (void)state;
    return kit_open(&kit) ? 0 : -1;
}

static int close_kit(void **state) {
    (void)state;
    kit_close(&kit);
    return 0;
}

static void what_is_to_stay_free_is_set_or_a_twentieth_or_two_gibibytes(void **state) {
    (void)state;
    Disk disk = disk_look("/", DISK_FLOOR_DEFAULT);
    int64_t share = disk.total / 20;
    assert_true(disk.total > 0);
    assert_true(disk.floor == (share < 2048 * mib ? share : 2048 * mib));
    assert_true(disk_look("/", 12).floor == 12 * mib);
    assert_true(disk_look("/", 0).floor == 0);
    assert_int_equal(disk_look("/there/is/no/such", DISK_FLOOR_DEFAULT).total, 0);
}

static void under_the_floor_it_is_short_and_under_twice_the_floor_low(void **state) {
    (void)state;
    static const struct {
        Disk disk;
        bool is_short, is_low;
    } cases[] = {{{200, 1000, 100}, false, false}, {{199, 1000, 100}, false, true},
                 {{100, 1000, 100}, false, true},  {{99, 1000, 100}, true, true},
                 {{0, 1000, 0}, false, false},     {{0, 0, 0}, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(disk_is_short(&cases[i].disk), cases[i].is_short);
        assert_int_equal(disk_is_low(&cases[i].disk), cases[i].is_low);
    }
}

// A finished test of one task with the games of one batch; their name is made of `digit`.
static void add_finished(int id, const char *result, double finished, char digit) {
    kit_sql(&kit,
            "INSERT INTO tests (id, engine_id, author_id, title, created, workload, parameters, "
            "book_id, seed, variant, adjudication, batch_pairs, pairs_max, state, approved_hash, "
            "result, finished) SELECT %d, 1, 1, 'test', 1, workload, parameters, 1, 42, variant, "
            "'{}', 4, 400, 'finished', 'x', '%s', %f FROM tests WHERE id = 1",
            id, result, finished);
    kit_sql(&kit,
            "INSERT INTO sides (test_id, side, engine_id, sha, tc, threads, margin_ms) "
            "SELECT %d, side, engine_id, sha, tc, threads, margin_ms FROM sides WHERE test_id = 1",
            id);
    kit_sql(&kit,
            "INSERT INTO tasks (id, test_id, worker_id, first_pair, pair_count, side, against, "
            "cores, state, lease_until, created, finished) "
            "VALUES (%d, %d, 1, 0, 4, 'new', 'base', 1, 'done', 0, 0, 0)",
            1000 + id, id);
    kit_sql(
        &kit,
        "INSERT OR IGNORE INTO blobs VALUES (replace(hex(zeroblob(32)), '0', '%c'), 9, 'games', 1)",
        digit);
    kit_sql(&kit, "INSERT INTO games VALUES (%d, 0, replace(hex(zeroblob(32)), '0', '%c'), 1)",
            1000 + id, digit);
}

static void games_of_tests_without_success_go_first_and_then_those_of_the_oldest(void **state) {
    (void)state;
    kit.turn.now = 100000;
    add_finished(10, "accepted", 100, '0');
    add_finished(11, "rejected", 300, '1');
    add_finished(12, "stopped", 200, '2');
    add_finished(13, "completed", 400, '3');
    add_finished(14, "accepted", 50, '4');
    add_finished(15, "rejected", 99000, '5'); // not an hour ago
    add_finished(16, "failed", 30, '6');
    add_finished(17, "stopped", 20, '7'); // and merged all the same
    kit_sql(&kit, "UPDATE tests SET merged = 60, merged_commit = 'x' WHERE id = 17");
    add_finished(18, "stopped", 10, '8'); // without games
    kit_sql(&kit, "DELETE FROM games WHERE task_id = 1018");
    static const int order[] = {16, 12, 11, 13, 17, 14, 10, 0};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        assert_int_equal(disk_drop_games(&kit.turn, &low), order[i]);
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM tests WHERE games_dropped = 100000"), 7);
    assert_int_equal(
        kit_int(&kit, "SELECT count(*) FROM events WHERE type = 'disk' AND test_id = 14"), 1);
    char *message scope(free_ptr) = kit_text(&kit, "SELECT message FROM events WHERE test_id = 16");
    assert_string_equal(
        message,
        "its games (batches: 1) were dropped: 0.98 GiB of the disk were free, less than twice the "
        "0.59 GiB that must stay free");
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM games"), 8);
}

static int64_t standing(char digit) {
    char sha[65] = "";
    memset(sha, digit, 64);
    return sql_blob_standing(kit.db, -1, sha);
}

static void a_blob_is_named_while_any_test_keeps_it(void **state) {
    (void)state;
    kit.turn.now = 100000;
    add_finished(10, "rejected", 100, '1');
    add_finished(11, "accepted", 100, '1'); // the same games
    assert_int_equal(standing('9'), 0);
    assert_int_equal(standing('a'), 1); // the snapshot of the reference
    assert_int_equal(standing('b'), 0); // the snapshot of a test that waits for approval
    kit_sql(&kit, "UPDATE tests SET state = 'active', approved_hash = 'x' WHERE id = 1");
    assert_int_equal(standing('b'), 1);
    kit_sql(
        &kit,
        "UPDATE tests SET state = 'finished', result = 'rejected', finished = 100 WHERE id = 1");
    assert_int_equal(standing('b'), 0);
    assert_int_equal(standing('1'), 1);
    assert_int_equal(disk_drop_games(&kit.turn, &low), 10);
    assert_int_equal(standing('1'), 1);
    assert_int_equal(disk_drop_games(&kit.turn, &low), 11);
    assert_int_equal(standing('1'), 2);
}

static void set_age(const char *path, time_t time) {
    const struct timespec times[2] = {{.tv_sec = time}, {.tv_sec = time}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void a_blob_that_is_stored_again_is_young_again(void **state) {
    (void)state;
    char sha[SHA256_HEX_MAX];
    int64_t size;
    assert_true(blob_put(kit.folder, "games", 5, sha, &kit.err));
    char *path scope(free_ptr) = blob_path(kit.folder, sha);
    set_age(path, 1000);
    assert_true(blob_put(kit.folder, "games", 5, sha, &kit.err));
    assert_int_equal(blob_remove_older(kit.folder, sha, 2000, &size), BLOB_YOUNG);
    set_age(path, 1000);
    assert_int_equal(blob_remove_older(kit.folder, sha, 2000, &size), BLOB_REMOVED);
    assert_int_equal(size, 5);
    assert_int_equal(blob_remove_older(kit.folder, sha, 2000, &size), BLOB_GONE);
    assert_true(blob_put(kit.folder, "games", 5, sha, &kit.err));
    assert_int_equal(blob_remove_older(kit.folder, sha, 2000, &size), BLOB_YOUNG);
}

#define WITH_KIT(test) cmocka_unit_test_setup_teardown(test, open_kit, close_kit)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_to_stay_free_is_set_or_a_twentieth_or_two_gibibytes),
        cmocka_unit_test(under_the_floor_it_is_short_and_under_twice_the_floor_low),
        WITH_KIT(games_of_tests_without_success_go_first_and_then_those_of_the_oldest),
        WITH_KIT(a_blob_is_named_while_any_test_keeps_it),
        WITH_KIT(a_blob_that_is_stored_again_is_young_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

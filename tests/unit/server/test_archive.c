// The archive: its games come in steps that are bounded, each game once and in order, and a batch
// that cannot hold what is asked for is not unpacked.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/hash.h"
#include "server/ledger/archive.h"
#include "server/storage/blob.h"
#include "tests/kit/ledger_kit.h"

enum { PAIRS = 4 };

static LedgerKit kit;
static BatchReply posted;
static int64_t task;
static Str out;

// `fill` bytes more in each line.
static void store_games(int64_t batch_task, int64_t seq, size_t fill, const char *white_ends) {
    Str text scope(str_release), packed scope(str_release);
    char sha[SHA256_HEX_MAX];
    str_init(&text, 4 << 20);
    str_init(&packed, 4 << 20);
    char *more scope(free_ptr) = xcalloc(fill + 1, 1);
    memset(more, 'x', fill);
    for (int i = 0; i < 2 * PAIRS; i++)
        str_printf(&text,
                   "{\"pair\":%d,\"new_is\":\"%s\",\"result\":\"1-0\",\"end\":\"%s\",\"id\":"
                   "\"%lld/%lld/%d\",\"fill\":\"%s\"}\n",
                   i / 2, i % 2 ? "black" : "white", i % 2 ? "rule" : white_ends,
                   (long long)batch_task, (long long)seq, i, more);
    zstd_compress(text.data, text.size, 1, &packed);
    assert_true(blob_put(kit.folder, packed.data, packed.size, sha, &kit.err));
    kit_sql(&kit, "INSERT OR IGNORE INTO blobs VALUES ('%s', 1, 'games', 1)", sha);
    kit_sql(&kit, "INSERT INTO games VALUES (%lld, %lld, '%s', 1)", (long long)batch_task,
            (long long)seq, sha);
    kit_sql(&kit, "UPDATE batches SET games_sha256 = '%s' WHERE task_id = %lld AND seq = %lld", sha,
            (long long)batch_task, (long long)seq);
}

// Three batches of two machines: 24 games.
static int open_archive(void **state) {
    (void)state;
    str_init(&out, 16 << 20);
    task = kit_open_task(&kit);
    int64_t other = kit_claim(&kit, 3, 4, 0);
    bool good = task && other && kit_post(&kit, task, 1, 0, "2222", &posted) &&
                kit_post(&kit, other, 3, 0, "4444", &posted) &&
                kit_post(&kit, task, 1, 1, "2222", &posted);
    if (!good)
        return -1;
    store_games(task, 0, 0, "rule");
    store_games(other, 0, 0, "time");
    store_games(task, 1, 0, "rule");
    return 0;
}

static int close_archive(void **state) {
    (void)state;
    str_release(&out);
    kit_close(&kit);
    return 0;
}

static bool write_id(Str *to, const ArchivedGame *game, Error *err) {
    (void)err;
    str_printf(to, "%s\n", json_string_value(json_object_get(game->json, "id")));
    return true;
}

static bool write_all(Str *to, const ArchivedGame *game, Error *err) {
    write_id(to, game, err);
    str_puts(to, json_string_value(json_object_get(game->json, "fill")));
    str_putc(to, '\n');
    return true;
}

static ArchiveFilter everything(void) {
    return (ArchiveFilter){.test = 1, .seq = -1, .pair = -1, .opening = -1, .game = -1};
}

static int lines_in(const Str *text) {
    int lines = 0;
    for (const char *p = text->data; *p; p++)
        lines += *p == '\n';
    return lines;
}

static int games_of(const ArchiveFilter *filter) {
    ArchiveCursor cursor = {0};
    ArchiveStep step;
    str_clear(&out);
    while ((step = archive_step(kit.db, kit.folder, filter, &cursor, write_id, &out, &kit.err)) ==
           ARCHIVE_MORE)
        ;
    assert_int_equal(step, ARCHIVE_END);
    return lines_in(&out);
}

static void all_games_come_once_and_in_the_order_of_their_batches(void **state) {
    (void)state;
    ArchiveFilter filter = everything();
    char *wanted scope(free_ptr) =
        kit_text(&kit, "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n "
                       "WHERE i < 7) SELECT group_concat(line, '') FROM (SELECT task_id || '/' || "
                       "seq || '/' || i || char(10) AS line FROM batches, n ORDER BY id, i)");
    assert_int_equal(games_of(&filter), 24);
    assert_string_equal(out.data, wanted);
}

static void a_batch_that_is_larger_than_a_part_comes_in_several(void **state) {
    (void)state;
    kit_sql(&kit, "DELETE FROM games WHERE task_id = %lld AND seq = 1", (long long)task);
    store_games(task, 1, 100000, "rule");
    ArchiveFilter filter = everything();
    ArchiveCursor cursor = {0};
    int parts = 0, games = 0;
    for (ArchiveStep step = ARCHIVE_MORE; step == ARCHIVE_MORE; parts++) {
        str_clear(&out);
        step = archive_step(kit.db, kit.folder, &filter, &cursor, write_all, &out, &kit.err);
        assert_int_not_equal(step, ARCHIVE_BROKEN);
        assert_in_range(out.size, 0, ARCHIVE_PART + (110 << 10));
        games += lines_in(&out) / 2;
    }
    assert_int_equal(games, 24);
    assert_in_range(parts, 4, 8);
}

static void games_that_are_not_asked_for_end_a_step_too(void **state) {
    (void)state;
    kit_sql(&kit, "DELETE FROM games WHERE task_id = %lld", (long long)task);
    store_games(task, 0, 120000, "rule");
    store_games(task, 1, 120000, "rule");
    int64_t third = kit_claim(&kit, 1, 4, 0);
    assert_true(third && kit_post(&kit, third, 1, 0, "2222", &posted) &&
                kit_post(&kit, third, 1, 1, "2222", &posted));
    store_games(third, 0, 120000, "rule");
    store_games(third, 1, 120000, "rule");
    ArchiveFilter filter = everything();
    filter.ending = "adjudication";
    filter.all = true;
    ArchiveCursor cursor = {0};
    int steps = 1;
    while (archive_step(kit.db, kit.folder, &filter, &cursor, write_id, &out, &kit.err) ==
           ARCHIVE_MORE)
        steps++;
    assert_int_equal(out.size, 0);
    assert_int_equal(steps, 2); // three batches of 960,000 bytes are more than a step reads
}

static void filters_leave_games_and_whole_batches_out(void **state) {
    (void)state;
    ArchiveFilter filter = everything();
    filter.machine = 3;
    assert_int_equal(games_of(&filter), 8);
    filter = everything();
    filter.task = task;
    assert_int_equal(games_of(&filter), 16);
    filter.seq = 1;
    assert_int_equal(games_of(&filter), 8);
    filter.game = 0;
    assert_int_equal(games_of(&filter), 4);
    filter = everything();
    filter.pair = 5;
    assert_int_equal(games_of(&filter), 2);
    filter = everything();
    filter.ending = "time"; // the counts of no batch have any, so the archive is not asked
    assert_int_equal(games_of(&filter), 0);
    filter.ending = "rule";
    assert_int_equal(games_of(&filter), 20);
    filter = everything(); // White wins all games, and half of them the base has Black
    filter.result = ARCHIVE_WIN;
    assert_int_equal(games_of(&filter), 4);
    filter.ending = "rule";
    assert_int_equal(games_of(&filter), 0);
}

static void a_batch_that_cannot_fit_is_not_unpacked(void **state) {
    (void)state;
    char *sha scope(free_ptr) =
        kit_text(&kit, "SELECT games_sha256 FROM batches WHERE worker_id = 3");
    char *path scope(free_ptr) = blob_path(kit.folder, sha);
    assert_int_equal(remove(path), 0);
    ArchiveFilter filter = everything();
    filter.result = ARCHIVE_DRAW; // the lost batch has none
    assert_int_equal(games_of(&filter), 0);
    filter.result = ARCHIVE_WIN;
    ArchiveCursor cursor = {0};
    assert_int_equal(archive_step(kit.db, kit.folder, &filter, &cursor, write_id, &out, &kit.err),
                     ARCHIVE_BROKEN);
    assert_non_null(strstr(kit.err.message, "the games of batch 0 of task"));
}

static void a_batch_that_is_excluded_between_two_parts_takes_none_of_the_next(void **state) {
    (void)state;
    kit_sql(&kit, "DELETE FROM games WHERE task_id = %lld AND seq = 0", (long long)task);
    store_games(task, 0, 100000, "rule");
    ArchiveFilter filter = everything();
    ArchiveCursor cursor = {0};
    Excluded changed;
    assert_int_equal(archive_step(kit.db, kit.folder, &filter, &cursor, write_all, &out, &kit.err),
                     ARCHIVE_MORE);
    assert_int_equal(cursor.next, 2);
    assert_true(kit_exclude(&kit, 1, 1, "all", &changed));
    str_clear(&out);
    while (archive_step(kit.db, kit.folder, &filter, &cursor, write_id, &out, &kit.err) ==
           ARCHIVE_MORE)
        ;
    assert_int_equal(lines_in(&out), 8); // all of machine 3
    filter.all = true;
    assert_int_equal(games_of(&filter), 24);
}

static void the_check_counts_what_the_archive_has(void **state) {
    (void)state;
    FILE *told = tmpfile();
    assert_non_null(told);
    assert_int_equal(ledger_check_games(kit.db, kit.folder, told), 0);
    kit_sql(&kit, "UPDATE batches SET units = 3 WHERE worker_id = 3");
    assert_true(ledger_check_games(kit.db, kit.folder, told) > 0);
    kit_sql(&kit, "UPDATE batches SET units = 4 WHERE worker_id = 3");
    kit_sql(&kit, "UPDATE batches SET games_sha256 = NULL WHERE worker_id = 3");
    assert_int_equal(ledger_check_games(kit.db, kit.folder, told), 2);
    kit_sql(&kit, "UPDATE tests SET games_dropped = 1790000000");
    assert_int_equal(ledger_check_games(kit.db, kit.folder, told), 0);
    fclose(told);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, open_archive, close_archive)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH(all_games_come_once_and_in_the_order_of_their_batches),
        WITH(a_batch_that_is_larger_than_a_part_comes_in_several),
        WITH(games_that_are_not_asked_for_end_a_step_too),
        WITH(filters_leave_games_and_whole_batches_out),
        WITH(a_batch_that_cannot_fit_is_not_unpacked),
        WITH(a_batch_that_is_excluded_between_two_parts_takes_none_of_the_next),
        WITH(the_check_counts_what_the_archive_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

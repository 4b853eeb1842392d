// The part of `server check` that looks at the archive: whether it has two games for each pair of
// each stored batch, and whether the games of the batches that count are as many as the ledger
// says. It unpacks all games, and compares the bytes of each file with its name. Games that the
// server dropped because its disk was nearly full are named, and are no difference. It repairs
// nothing.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "server/common/str.h"
#include "server/ledger/archive.h"
#include "server/ledger/ledger.h"
#include "server/ledger/replay.h"

typedef struct GamesAudit {
    const char *data;
    FILE *out;
    int differences;
    int64_t games; // in the archive
} GamesAudit;

// How many games of the batch are in the archive.
static int64_t check_batch(GamesAudit *audit, int64_t test, const SqlArchiveCheckBatches *b) {
    Error err;
    Str text scope(str_release);
    int64_t games = 0;
    bool same = b->sha256 && b->uploaded && strcmp(b->sha256, b->uploaded) == 0;
    str_init(&text, games_text_max(b->units));
    if (!same)
        error_set(&err, 500, "internal", "the upload that it names is not in the archive");
    if (!same || !archive_unpack(audit->data, b->sha256, b->units, &text, &games, &err)) {
        audit->differences++;
        fprintf(audit->out, "test %lld: the games of batch %lld of task %lld: %s\n",
                (long long)test, (long long)b->seq, (long long)b->task, err.message);
    }
    return games;
}

static void check_test(GamesAudit *audit, Db *db, const SqlArchiveCheckTests *test) {
    int64_t counted = 0, ledger = 2 * test->units_counted;
    SqlArchiveCheckBatchesRows rows scope(sql_rows_end) = sql_archive_check_batches(db, test->id);
    while (sql_archive_check_batches_next(&rows)) {
        int64_t games = check_batch(audit, test->id, &rows.row);
        audit->games += games;
        counted += rows.row.counts ? games : 0;
    }
    if (counted == ledger && counted == test->games)
        return;
    audit->differences++;
    fprintf(audit->out,
            "test %lld: %lld games that count are in the archive, its batches count %lld, and the "
            "test %lld\n",
            (long long)test->id, (long long)counted, (long long)test->games, (long long)ledger);
}

int ledger_check_games(Db *db, const char *data, FILE *out) {
    GamesAudit audit = {.data = data, .out = out};
    int tests = 0, dropped = 0;
    SqlArchiveCheckTestsRows rows scope(sql_rows_end) = sql_archive_check_tests(db);
    while (sql_archive_check_tests_next(&rows)) {
        const SqlArchiveCheckTests *test = &rows.row;
        if (isnan(test->games_dropped)) {
            check_test(&audit, db, test);
            tests++;
            continue;
        }
        fprintf(out, "test %lld: its games were dropped on %s, because the disk was nearly full\n",
                (long long)test->id, test->dropped_on);
        dropped++;
    }
    if (db_failed(db))
        audit.differences++;
    fprintf(out,
            "%lld games of %d tests in the archive, games of %d tests dropped, %d differences\n",
            (long long)audit.games, tests, dropped, audit.differences);
    return audit.differences;
}

// See ledger_kit.h.
#include "tests/kit/ledger_kit.h"

#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/file.h"
#include "server/common/log.h"

// The writer's transaction is committed around it, so that both connections see the same.
static char *side_query(LedgerKit *kit, const char *sql) {
    sqlite3 *raw;
    char *value = NULL;
    sqlite3_stmt *statement;
    if (!db_commit(kit->db, &kit->err))
        fatal("commit: %s", kit->err.message);
    if (sqlite3_open(kit->path, &raw) != SQLITE_OK ||
        sqlite3_prepare_v2(raw, sql, -1, &statement, NULL) != SQLITE_OK)
        fatal("%s: %s", sql, sqlite3_errmsg(raw));
    int rc = sqlite3_step(statement);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        fatal("%s: %s", sql, sqlite3_errmsg(raw));
    if (rc == SQLITE_ROW && sqlite3_column_text(statement, 0))
        value = xstrdup((const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    sqlite3_close(raw);
    if (!db_begin(kit->db, &kit->err))
        fatal("begin: %s", kit->err.message);
    return value;
}

static char *format_sql(const char *sql, va_list args) {
    char *text = NULL;
    if (vasprintf(&text, sql, args) < 0)
        fatal("out of memory");
    return text;
}

int64_t kit_int(LedgerKit *kit, const char *sql, ...) {
    va_list args;
    va_start(args, sql);
    char *text scope(free_ptr) = format_sql(sql, args);
    va_end(args);
    char *value scope(free_ptr) = side_query(kit, text);
    return value ? strtoll(value, NULL, 10) : 0;
}

char *kit_text(LedgerKit *kit, const char *sql, ...) {
    va_list args;
    va_start(args, sql);
    char *text scope(free_ptr) = format_sql(sql, args);
    va_end(args);
    return side_query(kit, text);
}

void kit_sql(LedgerKit *kit, const char *sql, ...) {
    va_list args;
    va_start(args, sql);
    char *text scope(free_ptr) = format_sql(sql, args);
    va_end(args);
    free(side_query(kit, text));
}

static bool load_fixture(LedgerKit *kit) {
    sqlite3 *raw;
    char *sql scope(free_ptr) =
        file_read("tests/data/ledger/fixture.sql", 1 << 20, NULL, &kit->err);
    if (!sql || sqlite3_open(kit->path, &raw) != SQLITE_OK)
        return false;
    bool good = sqlite3_exec(raw, sql, NULL, NULL, NULL) == SQLITE_OK;
    if (!good)
        error_set(&kit->err, 500, "fixture", "%s", sqlite3_errmsg(raw));
    sqlite3_close(raw);
    return good;
}

bool kit_open(LedgerKit *kit) {
    *kit = (LedgerKit){0};
    snprintf(kit->folder, sizeof kit->folder, "/tmp/test_ledger.XXXXXX");
    if (!mkdtemp(kit->folder))
        return false;
    snprintf(kit->path, sizeof kit->path, "%s/patchmate.db", kit->folder);
    kit->db = db_open(kit->path, false, &kit->err);
    if (!kit->db || !load_fixture(kit) || !db_begin(kit->db, &kit->err)) {
        log_error("ledger kit: %s", kit->err.message);
        return false;
    }
    kit->turn = (Turn){.db = kit->db, .now = 1000};
    // Most tests are about work that counts.
    kit_sql(kit, "INSERT INTO settings VALUES ('rerun_percent', '0')");
    return true;
}

int64_t kit_open_task(LedgerKit *kit) {
    if (!kit_open(kit))
        return 0;
    kit_activate(kit, 1);
    kit_sql(kit, "INSERT INTO settings VALUES ('task_seconds', '155')"); // five games a core
    return kit_claim(kit, 1, 4, 0);
}

void kit_close(LedgerKit *kit) {
    turn_release(&kit->turn);
    db_rollback(kit->db);
    db_close(kit->db);
    if (!folder_remove(kit->folder, &kit->err))
        log_error("%s", kit->err.message);
}

void kit_turn(LedgerKit *kit) {
    if (!db_commit(kit->db, &kit->err) || !db_begin(kit->db, &kit->err))
        fatal("turn: %s", kit->err.message);
}

void kit_activate(LedgerKit *kit, int64_t test) {
    if (!ledger_test_activate(&kit->turn, test, 2, "hash", "approved", &kit->err))
        fatal("activate: %s", kit->err.message);
}

void kit_machines(LedgerKit *kit, int first, int last) {
    kit_sql(kit,
            "WITH RECURSIVE n (id) AS (SELECT %d UNION ALL SELECT id + 1 FROM n WHERE id < %d) "
            "INSERT INTO workers (id, machine_key_hash, token_hash, name, version, host, cores, "
            "address, network, created, last_seen) SELECT id, 'k' || id, 't' || id, 'm', '1', "
            "'{}', 4, 'a', 'n' || id, 1, 0 FROM n",
            first, last);
}

static void set_trust(LedgerKit *kit, const char *mode) {
    kit_sql(kit, "INSERT OR REPLACE INTO settings VALUES ('trust', '%s')", mode);
}

void kit_earn(LedgerKit *kit) {
    kit->earned = true;
    set_trust(kit, "public");
}

static int64_t claim_as_offered(LedgerKit *kit, int64_t worker, int cores, int64_t held) {
    char key[40];
    json_auto_t *speeds = json_pack("{s:f}", "anvil", 1e6);
    json_auto_t *units = json_pack("[s, s]", "pair", "other");
    snprintf(key, sizeof key, "key-%lld", (long long)++kit->keys);
    Claim claim = {.worker = worker,
                   .cores = cores,
                   .memory_mib = 1 << 20,
                   .speeds = speeds,
                   .holding = {held},
                   .holding_count = held != 0,
                   .key = key,
                   .request_hash = "hash",
                   .units = units};
    if (!ledger_claim_begin(&kit->turn, &claim, &kit->err))
        return -1;
    return ledger_claim(&kit->turn, &claim, &kit->err);
}

int64_t kit_claim(LedgerKit *kit, int64_t worker, int cores, int64_t held) {
    if (!kit->earned)
        return claim_as_offered(kit, worker, cores, held);
    set_trust(kit, "private");
    int64_t task = claim_as_offered(kit, worker, cores, held);
    set_trust(kit, "public");
    kit_sql(kit,
            "UPDATE tasks SET level = (SELECT l.level FROM levels l WHERE l.worker_id = "
            "tasks.worker_id) WHERE id = %lld",
            (long long)task);
    return task;
}

bool kit_heartbeat(LedgerKit *kit, int64_t task, int64_t worker, const char *phase, int64_t plies,
                   int64_t begun, TaskReply *reply) {
    Heartbeat heartbeat = {task, worker, plies, begun, phase};
    return ledger_heartbeat(&kit->turn, &heartbeat, reply, &kit->err);
}

void kit_let_go(LedgerKit *kit) {
    kit_sql(kit, "UPDATE tasks SET due = due + 1e6 WHERE state = 'open'");
}

json_t *kit_result(const char *outcomes) {
    static const int wins[] = {0, 0, 0, 1, 2}, losses[] = {2, 1, 0, 0, 0},
                     draws[] = {0, 1, 2, 1, 0};
    int won = 0, lost = 0, drawn = 0;
    for (const char *p = outcomes; *p >= '0' && *p <= '4'; p++) {
        won += wins[*p - '0'];
        lost += losses[*p - '0'];
        drawn += draws[*p - '0'];
    }
    return json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "outcomes", outcomes, "wins", won,
                     "losses", lost, "draws", drawn, "crashes", 0, "time_losses", 0, "ponders", 0,
                     "ponders_against", 0);
}

json_t *kit_result_with(const char *outcomes, const char *members) {
    json_t *result = kit_result(outcomes);
    json_auto_t *more = json_loads(members, 0, NULL);
    if (json_object_update(result, more) != 0)
        fatal("kit_result_with: %s", members);
    return result;
}

Batch kit_batch(int64_t task, int64_t worker, int64_t seq, const json_t *result) {
    return (Batch){.task = task,
                   .worker = worker,
                   .seq = seq,
                   .result = result,
                   .tc = "10.000+0.100",
                   .speed = 1e6,
                   .replayed = true};
}

bool kit_post(LedgerKit *kit, int64_t task, int64_t worker, int64_t seq, const char *outcomes,
              BatchReply *reply) {
    json_auto_t *result = kit_result(outcomes);
    Batch batch = kit_batch(task, worker, seq, result);
    return ledger_batch(&kit->turn, &batch, reply, &kit->err);
}

bool kit_result_is(LedgerKit *kit, const char *word) {
    char *text scope(free_ptr) =
        kit_text(kit, "SELECT coalesce(result, '') FROM tests WHERE id = 1");
    return strcmp(text, word) == 0;
}

bool kit_exclude(LedgerKit *kit, int64_t test, int64_t worker, const char *which,
                 Excluded *changed) {
    Exclusion exclusion = {.test = test,
                           .user = 2,
                           .kind = "machine",
                           .worker = worker,
                           .which = which,
                           .reason = "because"};
    return ledger_exclude(&kit->turn, &exclusion, NULL, changed, &kit->err);
}

bool kit_include(LedgerKit *kit, int64_t test, int64_t worker, Excluded *changed) {
    Inclusion inclusion = {.test = test, .user = 2, .reason = ""};
    inclusion.exclusion =
        kit_int(kit,
                "SELECT coalesce(max(id), 0) FROM exclusions WHERE test_id = %lld AND "
                "worker_id = %lld AND undone IS NULL",
                (long long)test, (long long)worker);
    return ledger_include(&kit->turn, &inclusion, NULL, changed, &kit->err);
}

int kit_check(LedgerKit *kit) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    int differences = ledger_check(kit->db, out);
    fclose(out);
    if (differences)
        fprintf(stderr, "%s", text);
    free(text);
    return differences;
}

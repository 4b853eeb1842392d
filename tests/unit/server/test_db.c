// The database facade: every named query fits the schema, rows become JSON, constraints are told
// from failures, savepoints and transactions undo what they should.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/common/file.h"
#include "server/common/str.h"
#include "server/db/db.h"
#include "server/db/schema.h"

static char folder[64], path[96];
static Db *db;
static Error err;

static int open_fresh(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_db.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/test.db", folder);
    db = db_open(path, false, &err);
    return db ? 0 : -1;
}

static int close_and_remove(void **state) {
    (void)state;
    db_close(db);
    return folder_remove(folder, &err) ? 0 : -1;
}

static bool put(const char *name, const char *value) {
    return db_run(db, &err, SQL_SETTING_SET, "ss", name, value);
}

static bool holds(Db *from, const char *name, const char *value) {
    char *text scope(free_ptr) = db_text(from, SQL_SETTING_GET, "s", name);
    return value ? text && !strcmp(text, value) : !text;
}

static void every_named_query_fits_the_schema(void **state) {
    (void)state;
    sqlite3 *raw;
    assert_int_equal(sqlite3_open(path, &raw), SQLITE_OK);
    for (int id = 0; id < SQL_COUNT; id++) {
        sqlite3_stmt *statement = NULL;
        const char *tail = "";
        int rc = sqlite3_prepare_v2(raw, db_query_text(id), -1, &statement, &tail);
        if (rc != SQLITE_OK)
            fail_msg("%s: %s", db_query_name(id), sqlite3_errmsg(raw));
        if (tail[strspn(tail, "; \n")])
            fail_msg("%s: more than one statement", db_query_name(id));
        sqlite3_finalize(statement);
    }
    sqlite3_close(raw);
}

// Machines that register and never come back may be hundreds of thousands.
static void no_page_and_no_tick_walks_all_machines(void **state) {
    (void)state;
    static const SqlId queries[] = {
        SQL_PAGE_TOTALS,          SQL_PAGE_MACHINES, SQL_PAGE_MACHINE,  SQL_PAGE_MACHINES_OF_USER,
        SQL_CORE_METRICS,         SQL_PAGE_USER,     SQL_PAGE_IDLE,     SQL_MACHINES_FORGET,
        SQL_WORKER_REGISTRATIONS, SQL_WORKER_BY_KEY, SQL_WORKER_VIEWER, SQL_WORKER_IS_BARRED_ONE,
        SQL_WORKER_STANDING,      SQL_LEDGER_TASK,   SQL_LEDGER_CREDIT,
    };
    sqlite3 *raw;
    assert_int_equal(sqlite3_open(path, &raw), SQLITE_OK);
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        sqlite3_stmt *plan;
        char *text scope(free_ptr) = xasprintf("EXPLAIN QUERY PLAN %s", db_query_text(queries[i]));
        assert_int_equal(sqlite3_prepare_v2(raw, text, -1, &plan, NULL), SQLITE_OK);
        while (sqlite3_step(plan) == SQLITE_ROW) {
            const char *step = (const char *)sqlite3_column_text(plan, 3);
            bool walks = !strcmp(step, "SCAN w") || !strcmp(step, "SCAN workers") ||
                         !strncmp(step, "SCAN w USING INDEX", 18) || strstr(step, "AUTOMATIC");
            if (walks && !(queries[i] == SQL_PAGE_MACHINES && strstr(step, "workers_seen")))
                fail_msg("%s: %s", db_query_name(queries[i]), step);
        }
        sqlite3_finalize(plan);
    }
    sqlite3_close(raw);
}

static void a_row_becomes_json_by_the_names_of_its_columns(void **state) {
    (void)state;
    assert_true(
        db_run(db, &err, SQL_USER_ADD, "ssssid", "anna", "", "x", "active", (int64_t)1, 12.5));
    json_auto_t *user = db_row(db, SQL_USER_BY_NAME, "s", "ANNA");
    assert_string_equal(json_string_value(json_object_get(user, "name")), "anna");
    assert_int_equal(json_integer_value(json_object_get(user, "admin")), 1);
    assert_true(json_real_value(json_object_get(user, "created")) == 12.5);
    json_auto_t *all = db_rows(db, SQL_USERS_ALL, "");
    assert_int_equal(json_array_size(all), 1);
    assert_true(json_is_array(json_object_get(json_array_get(all, 0), "roles")));
}

static void what_is_not_there_is_null_or_the_given_value(void **state) {
    (void)state;
    assert_null(db_row(db, SQL_USER_BY_NAME, "s", "nobody"));
    assert_true(holds(db, "nothing", NULL));
    assert_int_equal(db_int(db, SQL_ROLE_HAS, -7, "iis", (int64_t)1, (int64_t)1, "maintainer"), -7);
    assert_false(db_failed(db));
}

static void a_constraint_is_a_conflict_and_not_a_failure(void **state) {
    (void)state;
    assert_true(
        db_run(db, &err, SQL_USER_ADD, "ssssid", "anna", "", "x", "active", (int64_t)0, 1.0));
    assert_false(
        db_run(db, &err, SQL_USER_ADD, "ssssid", "Anna", "", "x", "active", (int64_t)0, 1.0));
    assert_int_equal(err.status, 409);
    assert_non_null(strstr(err.message, "users.name"));
    assert_false(db_failed(db));
}

static void a_savepoint_undoes_only_its_own_writes(void **state) {
    (void)state;
    assert_true(db_begin(db, &err));
    db_savepoint(db);
    assert_true(put("first", "1"));
    db_savepoint_keep(db);
    db_savepoint(db);
    assert_true(put("second", "2"));
    db_savepoint_undo(db);
    assert_true(db_commit(db, &err));
    assert_true(holds(db, "first", "1"));
    assert_true(holds(db, "second", NULL));
}

static void a_rollback_undoes_the_turn(void **state) {
    (void)state;
    assert_true(db_begin(db, &err));
    assert_true(put("first", "1"));
    db_rollback(db);
    assert_true(holds(db, "first", NULL));
}

static void a_reader_sees_one_snapshot_and_cannot_write(void **state) {
    (void)state;
    Db *reader = db_open(path, true, &err);
    assert_non_null(reader);
    assert_true(db_begin(reader, &err));
    assert_true(holds(reader, "colour", NULL));
    assert_true(put("colour", "red"));
    assert_true(holds(reader, "colour", NULL));
    db_rollback(reader);
    assert_true(db_begin(reader, &err));
    assert_true(holds(reader, "colour", "red"));
    assert_false(db_run(reader, &err, SQL_SETTING_UNSET, "s", "colour"));
    assert_int_equal(err.status, 503);
    db_rollback(reader);
    assert_true(holds(reader, "colour", "red"));
    db_close(reader);
}

static void after_a_failure_the_turn_cannot_commit_and_the_next_can(void **state) {
    (void)state;
    assert_true(db_begin(db, &err));
    assert_true(put("first", "1"));
    assert_null(db_row(db, SQL_SETTING_GET, "")); // an argument is missing: our own mistake
    assert_true(db_failed(db));
    assert_false(put("second", "2"));
    assert_false(db_commit(db, &err));
    assert_int_equal(err.status, 503);
    assert_true(db_begin(db, &err));
    assert_true(put("third", "3"));
    assert_true(db_commit(db, &err));
    assert_true(holds(db, "first", NULL));
    assert_true(holds(db, "third", "3"));
}

static void a_query_left_in_the_middle_ends_with_the_turn(void **state) {
    (void)state;
    put("first", "1");
    put("second", "2");
    assert_true(db_begin(db, &err));
    Query q = query(db, SQL_SETTINGS_ALL, "");
    assert_true(query_step(&q));
    assert_string_equal(query_text(&q, 0), "first");
    assert_true(db_commit(db, &err));
    json_auto_t *all = db_rows(db, SQL_SETTINGS_ALL, "");
    assert_int_equal(json_array_size(all), 2);
    assert_false(db_failed(db));
}

static void a_copy_holds_what_the_original_held(void **state) {
    (void)state;
    put("colour", "red");
    char *copy scope(free_ptr) = xasprintf("%s/copy.db", folder);
    assert_true(db_backup(db, copy, &err));
    assert_false(db_backup(db, copy, &err));
    Db *other = db_open(copy, false, &err);
    assert_non_null(other);
    assert_true(holds(other, "colour", "red"));
    db_close(other);
}

static void a_database_of_a_newer_server_is_refused(void **state) {
    (void)state;
    sqlite3 *raw;
    sqlite3_open(path, &raw);
    sqlite3_exec(raw, "PRAGMA user_version = 9999", NULL, NULL, NULL);
    sqlite3_close(raw);
    assert_null(db_open(path, false, &err));
    assert_non_null(strstr(err.message, "newer"));
}

// The first version's schema as it was released, with a small installation and a batch in it.
static bool make_first_version(const char *file) {
    sqlite3 *raw;
    char *schema scope(free_ptr) = file_read("sql/schema.sql", 1 << 20, NULL, &err);
    char *fixture scope(free_ptr) = file_read("tests/data/ledger/fixture.sql", 1 << 20, NULL, &err);
    if (!schema || !fixture || sqlite3_open(file, &raw) != SQLITE_OK)
        return false;
    char *sql scope(free_ptr) = xasprintf(
        "BEGIN; %s; PRAGMA user_version = 1; COMMIT; %s;"
        "INSERT INTO tasks (id, test_id, worker_id, first_pair, pair_count, cores, lease_until, "
        "created) VALUES (1, 1, 1, 0, 4, 1, 0, 0);"
        "INSERT INTO batches (test_id, task_id, worker_id, seq, outcomes, wins, losses, draws, "
        "crashes, time_losses, tc, speed, busy, received, counted, llr) "
        "VALUES (1, 1, 1, 0, '2222', 0, 0, 8, 0, 0, '10+0.1', 1, 0.5, 1, 1, 0.25)",
        schema, fixture);
    bool good = sqlite3_exec(raw, sql, NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_close(raw);
    return good;
}

static void a_database_of_the_first_version_is_brought_up_to_date(void **state) {
    (void)state;
    char *old scope(free_ptr) = xasprintf("%s/old.db", folder);
    assert_true(make_first_version(old));
    assert_null(db_open(old, true, &err)); // a reader changes nothing
    assert_non_null(strstr(err.message, "run the server"));
    Db *db_of_old = db_open(old, false, &err);
    assert_non_null(db_of_old);
    json_auto_t *worker = db_row(db_of_old, SQL_PAGE_MACHINE, "id", (int64_t)3, 0.0);
    assert_string_equal(json_string_value(json_object_get(worker, "name")), "three");
    json_auto_t *engine = db_row(db_of_old, SQL_ENGINE_BY_NAME, "s", "anvil");
    assert_string_equal(json_string_value(json_object_get(engine, "net_path")), "nets/{sha256}");
    json_auto_t *commit = db_row(db_of_old, SQL_COMMIT_BY_SHA, "is", (int64_t)1,
                                 json_string_value(json_object_get(engine, "baseline")));
    assert_true(json_is_null(json_object_get(commit, "net")));
    assert_true(json_is_array(json_object_get(commit, "files")));
    Query q = query(db_of_old, SQL_LEDGER_CHECK_BATCHES, "i", (int64_t)1);
    assert_true(query_step(&q));
    assert_string_equal(query_text(&q, 3), "2222");
    assert_string_equal(query_text(&q, 12), ""); // what was not judged then is not marked now
    assert_true(query_real(&q, 19) < 0);
    query_end(&q);
    db_close(db_of_old);
    Db *again = db_open(old, true, &err);
    assert_non_null(again);
    db_close(again);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fresh, close_and_remove)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_named_query_fits_the_schema),
        TEST(no_page_and_no_tick_walks_all_machines),
        TEST(a_row_becomes_json_by_the_names_of_its_columns),
        TEST(what_is_not_there_is_null_or_the_given_value),
        TEST(a_constraint_is_a_conflict_and_not_a_failure),
        TEST(a_savepoint_undoes_only_its_own_writes),
        TEST(a_rollback_undoes_the_turn),
        TEST(a_reader_sees_one_snapshot_and_cannot_write),
        TEST(after_a_failure_the_turn_cannot_commit_and_the_next_can),
        TEST(a_query_left_in_the_middle_ends_with_the_turn),
        TEST(a_copy_holds_what_the_original_held),
        TEST(a_database_of_the_first_version_is_brought_up_to_date),
        TEST(a_database_of_a_newer_server_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

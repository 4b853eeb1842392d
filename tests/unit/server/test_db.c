// The database facade: every named query fits the schema, rows become
// structs or JSON, constraints are told from failures, savepoints and transactions undo what they
// should.
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
#include "sql/core.h"
#include "sql/pages.h"
#include "sql/users.h"

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
    return sql_setting_set(db, &err, .name = name, .value = value);
}

static bool holds(Db *from, const char *name, const char *value) {
    char *text scope(free_ptr) = sql_setting_get(from, name);
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

static bool add_user(const char *name, bool admin) {
    return sql_user_add(db, &err, .name = name, .email = "", .password = "x", .state = "active",
                        .admin = admin, .created = 12.5);
}

static void a_row_becomes_json_by_the_names_of_its_columns(void **state) {
    (void)state;
    assert_true(add_user("anna", true));
    json_auto_t *user = sql_user_by_id(db, sql_user_of_name(db, 0, "ANNA"));
    assert_string_equal(json_string_value(json_object_get(user, "name")), "anna");
    assert_true(json_is_true(json_object_get(user, "admin")));
    assert_true(json_real_value(json_object_get(user, "created")) == 12.5);
    json_auto_t *all = sql_users_all(db);
    assert_int_equal(json_array_size(all), 1);
    assert_true(json_is_array(json_object_get(json_array_get(all, 0), "roles")));
}

static void what_is_not_there_is_null_or_the_given_value(void **state) {
    (void)state;
    assert_null(sql_user_by_id(db, 7));
    assert_null(sql_user_password(db, 7));
    assert_true(holds(db, "nothing", NULL));
    assert_int_equal(sql_user_of_name(db, -7, "nobody"), -7);
    assert_false(db_failed(db));
}

static void a_constraint_is_a_conflict_and_not_a_failure(void **state) {
    (void)state;
    assert_true(add_user("anna", false));
    assert_false(add_user("Anna", false));
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
    assert_false(sql_setting_unset(reader, &err, "colour"));
    assert_int_equal(err.status, 503);
    db_rollback(reader);
    assert_true(holds(reader, "colour", "red"));
    db_close(reader);
}

static void after_a_failure_the_turn_cannot_commit_and_the_next_can(void **state) {
    (void)state;
    assert_true(db_begin(db, &err));
    assert_true(put("first", "1"));
    put("zero", "0");
    SqlSettingsAllRows one = sql_settings_all(db);
    assert_true(sql_settings_all_next(&one));
    SqlSettingsAllRows other = sql_settings_all(db); // inside itself: our own mistake
    assert_false(sql_settings_all_next(&other));
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
    SqlSettingsAllRows left = sql_settings_all(db);
    assert_true(sql_settings_all_next(&left));
    assert_string_equal(left.row.name, "first");
    assert_true(db_commit(db, &err));
    int count = 0;
    for (SqlSettingsAllRows all = sql_settings_all(db); sql_settings_all_next(&all);)
        count++;
    assert_int_equal(count, 2);
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

static bool add_event(const char *type, const char *message) {
    return sql_event_add(db, &err, .created = 5.5, .type = type, .user = 0, .worker = 0, .test = 0,
                         .message = message);
}

static void what_was_written_is_read_again(void **state) {
    (void)state;
    assert_true(add_event("engine", "it was \xc3\xbc"));
    json_auto_t *events =
        sql_page_events(db, .before = 1 << 30, .type = "", .user_name = "", .text = "", .limit = 9);
    const json_t *event = json_array_get(events, 0);
    assert_string_equal(json_string_value(json_object_get(event, "type")), "engine");
    assert_string_equal(json_string_value(json_object_get(event, "message")), "it was \xc3\xbc");
    assert_true(json_real_value(json_object_get(event, "created")) == 5.5);
    assert_true(json_is_null(json_object_get(event, "user")));
}

static void text_that_is_not_utf_8_is_refused(void **state) {
    (void)state;
    assert_false(add_event("engine", "it was \xfc"));
    assert_int_equal(err.status, 422);
    assert_false(add_event("engine", "cut \xc3"));
    assert_int_equal(err.status, 422);
    assert_false(db_failed(db));
    assert_true(add_event("engine", ""));
}

// The texts of a first row are its own; NULL keeps to itself.
static void a_row_keeps_its_texts(void **state) {
    (void)state;
    assert_true(add_user("anna", true) && add_user("bert", false));
    SqlUserByName anna scope(sql_row_free) = {0}, bert scope(sql_row_free) = {0};
    assert_true(sql_user_by_name(db, &anna, "anna"));
    assert_true(sql_user_by_name(db, &bert, "bert"));
    assert_string_equal(anna.state, "active");
    assert_int_equal(bert.id, anna.id + 1);
    assert_false(sql_user_by_name(db, &bert, "carl"));
}

// A column that has NULL although its query says that it has none is a mistake of ours.
static void an_unexpected_null_fails_the_database(void **state) {
    (void)state;
    Query q = query_open(db, SQL_ENGINE_FIRST); // min() of no rows
    assert_true(query_step(&q));
    assert_false(query_has(&q, 0));
    assert_int_equal(query_get_int_or_null(&q, 0), 0);
    assert_false(db_failed(db));
    assert_int_equal(query_get_int(&q, 0), 0);
    assert_true(db_failed(db));
    query_end(&q);
}

// There are no old versions yet: the steps after the first exist here alone.
static int version_of(sqlite3 *raw) {
    sqlite3_stmt *statement;
    sqlite3_prepare_v2(raw, "PRAGMA user_version", -1, &statement, NULL);
    sqlite3_step(statement);
    int version = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return version;
}

static void a_database_of_an_older_version_is_brought_up_to_date(void **state) {
    (void)state;
    const char *steps[] = {"the first step has run already",
                           "ALTER TABLE settings ADD COLUMN note TEXT NOT NULL DEFAULT 'old'",
                           "UPDATE settings SET note = 'new'; ALTER TABLE settings ADD COLUMN x"};
    assert_true(put("colour", "red"));
    sqlite3 *raw;
    assert_int_equal(sqlite3_open(path, &raw), SQLITE_OK);
    sqlite3_exec(raw, "PRAGMA busy_timeout = 0", NULL, NULL, NULL);
    assert_int_equal(version_of(raw), 1);

    assert_false(db_schema_bring(raw, steps, 2, true, &err)); // a reader changes nothing
    assert_non_null(strstr(err.message, "run the server"));
    assert_int_equal(version_of(raw), 1);

    assert_true(db_schema_bring(raw, steps, 2, false, &err));
    assert_int_equal(version_of(raw), 2);
    assert_true(db_schema_bring(raw, steps, 2, true, &err)); // now it may
    assert_true(holds(db, "colour", "red"));

    assert_false(
        db_schema_bring(raw, steps, 3, false, &err)); // a step that fails leaves no half of itself
    assert_non_null(strstr(err.message, "version 3"));
    assert_int_equal(version_of(raw), 2);
    sqlite3_stmt *statement;
    sqlite3_prepare_v2(raw, "SELECT note FROM settings WHERE name = 'colour'", -1, &statement,
                       NULL);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(statement, 0), "old");
    sqlite3_finalize(statement);
    sqlite3_close(raw);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fresh, close_and_remove)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_named_query_fits_the_schema),
        TEST(a_row_becomes_json_by_the_names_of_its_columns),
        TEST(what_is_not_there_is_null_or_the_given_value),
        TEST(a_constraint_is_a_conflict_and_not_a_failure),
        TEST(a_savepoint_undoes_only_its_own_writes),
        TEST(a_rollback_undoes_the_turn),
        TEST(a_reader_sees_one_snapshot_and_cannot_write),
        TEST(after_a_failure_the_turn_cannot_commit_and_the_next_can),
        TEST(a_query_left_in_the_middle_ends_with_the_turn),
        TEST(a_copy_holds_what_the_original_held),
        TEST(what_was_written_is_read_again),
        TEST(text_that_is_not_utf_8_is_refused),
        TEST(a_row_keeps_its_texts),
        TEST(an_unexpected_null_fails_the_database),
        TEST(a_database_of_an_older_version_is_brought_up_to_date),
        TEST(a_database_of_a_newer_server_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// The operator's settings: the table is whole, and what the database holds is read by its bounds.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/common/file.h"
#include "server/common/str.h"
#include "server/db/settings.h"
#include "sql/core.h"

static char folder[64];
static Db *db;
static Error err;

static int open_fresh(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_settings.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    char *path scope(free_ptr) = xasprintf("%s/test.db", folder);
    db = db_open(path, false, &err);
    return db ? 0 : -1;
}

static int close_and_remove(void **state) {
    (void)state;
    db_close(db);
    return folder_remove(folder, &err) ? 0 : -1;
}

// Past the bounds, as an older version or an editor of the database may write it.
static void write_by_hand(const char *name, const char *value) {
    assert_true(sql_setting_set(db, &err, .name = name, .value = value));
}

static void every_row_is_whole_and_its_default_fits(void **state) {
    (void)state;
    for (int i = 0; i < SETTING_COUNT; i++) {
        const SettingRow *row = setting_row((Setting)i);
        Setting found = SETTING_COUNT;
        if (!row->name || !row->help || !row->fallback)
            fail_msg("row %d (%s) lacks a member", i, row->name ? row->name : "no name");
        if (!setting_find(row->name, &found) || (int)found != i)
            fail_msg("%s stands twice", row->name);
        if (row->type == SETTING_IS_WORD ? !row->words : !(row->low < row->high))
            fail_msg("%s has no bounds", row->name);
        if (!setting_fits((Setting)i, row->fallback))
            fail_msg("the default of %s is not within its bounds", row->name);
    }
    assert_false(setting_find("colour", &(Setting){0}));
}

static void a_setting_that_is_not_set_is_its_default(void **state) {
    (void)state;
    assert_int_equal(setting_whole(db, SETTING_TASK_SECONDS), 1800);
    assert_true(setting_real(db, SETTING_FLAG_BUSY) == 0.1);
    assert_true(setting_is(db, SETTING_SIGNUP, "open"));
    char *name scope(free_ptr) = setting_text(db, SETTING_NAME);
    assert_string_equal(name, "Patchmate");
    assert_int_equal(setting_whole(NULL, SETTING_TASK_SECONDS), 1800);
}

static void trust_is(const char *mode, const char *set) {
    if (set)
        write_by_hand("trust", set);
    SqlTrust trust scope(sql_row_free) = {0};
    assert_true(sql_trust(db, &trust));
    assert_string_equal(trust.mode, mode);
    assert_int_equal(trust.set, set && strcmp(set, mode) == 0);
}

static void trust_follows_the_setting_and_else_whether_the_server_was_reached(void **state) {
    (void)state;
    trust_is("private", NULL);
    trust_is("public", "public");
    trust_is("private", "private");
    trust_is("private", "unset");
    trust_is("private", "roles"); // the setting has no such value
    assert_true(sql_reached_add(db, &err, .now = 17, .reason = "the first"));
    assert_true(sql_reached_add(db, &err, .now = 18, .reason = "the second"));
    SqlTrust trust scope(sql_row_free) = {0};
    assert_true(sql_trust(db, &trust));
    assert_string_equal(trust.reason, "the first");
    assert_true(trust.at == 17);
    trust_is("roles", NULL);
    trust_is("roles", "unset");
    trust_is("private", "private");
    trust_is("public", "public");
    trust_is("roles", "");
}

static void a_setting_that_is_set_is_its_value(void **state) {
    (void)state;
    assert_true(setting_write(db, SETTING_TASK_SECONDS, "60", &err));
    assert_int_equal(setting_whole(db, SETTING_TASK_SECONDS), 60);
    assert_true(setting_write(db, SETTING_FLAG_BUSY, "0.5", &err));
    assert_true(setting_real(db, SETTING_FLAG_BUSY) == 0.5);
    assert_true(setting_write(db, SETTING_SIGNUP, "closed", &err));
    assert_true(setting_is(db, SETTING_SIGNUP, "closed"));
    assert_true(setting_write(db, SETTING_NAME, "Our tests", &err));
    char *name scope(free_ptr) = setting_text(db, SETTING_NAME);
    assert_string_equal(name, "Our tests");
}

static void a_value_outside_the_bounds_is_not_written(void **state) {
    (void)state;
    static const struct {
        Setting setting;
        const char *value;
    } wrong[] = {
        {SETTING_TASK_SECONDS, "0"},
        {SETTING_TASK_SECONDS, "86401"},
        {SETTING_TASK_SECONDS, "1.5"},
        {SETTING_TASK_SECONDS, ""},
        {SETTING_FLAG_BUSY, "1.01"},
        {SETTING_FLAG_BUSY, "-0.1"},
        {SETTING_FLAG_BUSY, "nan"},
        {SETTING_SIGNUP, "sometimes"},
        {SETTING_SIGNUP, ""},
        {SETTING_SIGNUP, "open|closed"},
        {SETTING_NAME, ""},
        {SETTING_NAME, "two\nlines"},
        {SETTING_SANDBOX_MIN, "3"},
        {SETTING_SELF_APPROVAL, "yes"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const SettingRow *row = setting_row(wrong[i].setting);
        if (setting_write(db, wrong[i].setting, wrong[i].value, &err))
            fail_msg("%s may be '%s'", row->name, wrong[i].value);
        assert_string_equal(err.code, "bad_field");
    }
    assert_int_equal(setting_whole(db, SETTING_TASK_SECONDS), 1800);
}

// ---- values that stand in the database and do not fit -------------------------------------------

// Standard error goes to a file of the folder until log_after() returns what stands in it.
static int standard_error;

static void log_begin(void) {
    char *path scope(free_ptr) = xasprintf("%s/log", folder);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    standard_error = dup(2);
    dup2(file, 2);
    close(file);
}

static char *log_after(void) {
    char *path scope(free_ptr) = xasprintf("%s/log", folder);
    dup2(standard_error, 2);
    close(standard_error);
    return file_read(path, 1 << 16, NULL, &err);
}

static int lines_with(const char *text, const char *word) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, word)); at++)
        count++;
    return count;
}

static void a_value_that_does_not_fit_is_the_default_with_one_warning(void **state) {
    (void)state;
    write_by_hand("task_seconds", "86401");
    write_by_hand("flag_slow", "0.5 ");
    write_by_hand("submit", "everybody");
    log_begin();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(setting_whole(db, SETTING_TASK_SECONDS), 1800);
        assert_true(setting_real(db, SETTING_FLAG_SLOW) == 0.25);
        assert_true(setting_is(db, SETTING_SUBMIT, "developers"));
    }
    char *log scope(free_ptr) = log_after();
    assert_int_equal(lines_with(log, "warn"), 3);
    assert_int_equal(lines_with(log, "task_seconds is '86401'"), 1);
    assert_int_equal(lines_with(log, "flag_slow is '0.5 '"), 1);
    assert_int_equal(lines_with(log, "submit is 'everybody'"), 1);
}

static void the_warning_comes_again_after_a_good_value(void **state) {
    (void)state;
    static const char *const values[] = {"x", "x", "20", "x"};
    log_begin();
    for (int i = 0; i < 4; i++) {
        write_by_hand("pending_tests", values[i]);
        assert_int_equal(setting_whole(db, SETTING_PENDING_TESTS), 20);
    }
    char *log scope(free_ptr) = log_after();
    assert_int_equal(lines_with(log, "pending_tests"), 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fresh, close_and_remove)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_row_is_whole_and_its_default_fits),
        TEST(a_setting_that_is_not_set_is_its_default),
        TEST(a_setting_that_is_set_is_its_value),
        TEST(trust_follows_the_setting_and_else_whether_the_server_was_reached),
        TEST(a_value_outside_the_bounds_is_not_written),
        TEST(a_value_that_does_not_fit_is_the_default_with_one_warning),
        TEST(the_warning_comes_again_after_a_good_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

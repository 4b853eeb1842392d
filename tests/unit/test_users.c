// Accounts: names, passwords, roles, and how long wrong passwords make one wait.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../server/common/file.h"
#include "../../server/common/str.h"
#include "../../server/password.h"
#include "../../server/users.h"

static char folder[64];
static Db *db;
static Error err;

static int open_fresh(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_users.XXXXXX");
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

static void names_are_short_plain_and_begin_with_a_letter(void **state) {
    (void)state;
    const char *const good[] = {"ab", "Anna-Maria_3.x", "abcdefghijklmnopqrstuvwxyz012345"};
    const char *const bad[] = {"",    "a",   "1a", "-ab",
                               "a b", "a/b", "ä",  "abcdefghijklmnopqrstuvwxyz0123456"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(user_name_check(good[i], &err));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(user_name_check(bad[i], &err));
    assert_string_equal(err.field, "name");
}

static void a_password_matches_itself_and_nothing_else(void **state) {
    (void)state;
    char *stored scope(free_ptr) = password_hash("correct horse");
    char *again scope(free_ptr) = password_hash("correct horse");
    assert_string_not_equal(stored, again);
    assert_true(password_matches(stored, "correct horse"));
    assert_false(password_matches(stored, "correct hors"));
    assert_false(password_matches(stored, ""));
    stored[strlen(stored) - 1] ^= 1;
    assert_false(password_matches(stored, "correct horse"));
    assert_false(password_matches("", ""));
    assert_false(password_matches("scrypt$1$1$1$$", ""));
}

static void passwords_have_a_length(void **state) {
    (void)state;
    char longest[PASSWORD_MAX + 2];
    memset(longest, 'x', sizeof longest);
    longest[PASSWORD_MAX + 1] = 0;
    assert_false(password_check("1234567", &err));
    assert_true(password_check("12345678", &err));
    assert_false(password_check(longest, &err));
    longest[PASSWORD_MAX] = 0;
    assert_true(password_check(longest, &err));
}

static void a_name_is_taken_in_any_case(void **state) {
    (void)state;
    assert_true(user_create(db, "Anna", "", "x", "active", false, 1, &err) > 0);
    assert_int_equal(user_create(db, "anna", "", "x", "active", false, 1, &err), 0);
    assert_string_equal(err.code, "name_taken");
    assert_true(user_find(db, "ANNA", &err) > 0);
    assert_int_equal(user_find(db, "bert", &err), 0);
    assert_int_equal(err.status, 404);
}

static void roles_that_are_none_are_refused(void **state) {
    (void)state;
    int64_t anna = user_create(db, "anna", "", "x", "active", false, 1, &err);
    assert_true(user_set_role(db, anna, "", "admin", true, &err));
    assert_false(user_set_role(db, anna, "anvil", "king", true, &err));
    assert_false(user_set_role(db, anna, "anvil", "maintainer", true, &err));
    assert_string_equal(err.code, "no_such_engine");
    assert_false(user_set_state(db, anna, "asleep", &err));
}

// Seconds that `name` at `address` has to wait now; 0: may try.
static double wait_for(const char *name, const char *address, double now) {
    double wait;
    return login_may_try(db, name, address, now, &wait, &err) ? 0 : wait;
}

static void fail_times(int count, const char *name, const char *address, double now) {
    for (int i = 0; i < count; i++)
        assert_true(login_failed(db, name, address, now, &err));
}

static void after_ten_wrong_passwords_each_wait_is_twice_the_last(void **state) {
    (void)state;
    fail_times(9, "anna", "192.0.2.1", 1000);
    assert_true(wait_for("anna", "192.0.2.9", 1000) == 0);
    for (int i = 0; i < 12; i++) {
        double wanted = 30 << i < 3600 ? 30 << i : 3600;
        fail_times(1, i % 2 ? "anna" : "ANNA", "192.0.2.1", 1000);
        assert_true(wait_for("Anna", "192.0.2.9", 1000) == wanted);
        assert_int_equal(err.status, 429);
        assert_true(wait_for("anna", "192.0.2.9", 1000 + wanted) == 0);
    }
    assert_true(wait_for("bert", "192.0.2.9", 1000) == 0);
    assert_true(login_succeeded(db, "anna", &err));
    assert_true(wait_for("anna", "192.0.2.9", 1000) == 0);
}

static void an_address_that_tries_many_names_waits_too(void **state) {
    (void)state;
    char name[16];
    for (int i = 0; i < 50; i++) {
        assert_true(wait_for("zoe", "192.0.2.1", 1000) == 0);
        snprintf(name, sizeof name, "user%d", i);
        fail_times(1, name, "192.0.2.1", 1000);
    }
    assert_true(wait_for("zoe", "192.0.2.1", 1000) == 30);
    assert_true(wait_for("zoe", "192.0.2.2", 1000) == 0);
}

static void wrong_passwords_are_forgotten_after_a_day(void **state) {
    (void)state;
    fail_times(20, "anna", "192.0.2.1", 1000);
    assert_true(wait_for("anna", "", 1000 + 86401) == 0);
    fail_times(1, "anna", "192.0.2.1", 1000 + 86402);
    assert_true(wait_for("anna", "", 1000 + 86402) == 0);
}

static void one_address_makes_twenty_accounts_a_day(void **state) {
    (void)state;
    for (int i = 0; i < 20; i++) {
        assert_true(signup_may_try(db, "192.0.2.1", 1000, &err));
        assert_true(signup_note(db, "192.0.2.1", 1000, &err));
    }
    assert_false(signup_may_try(db, "192.0.2.1", 1000, &err));
    assert_true(signup_may_try(db, "192.0.2.2", 1000, &err));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fresh, close_and_remove)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(names_are_short_plain_and_begin_with_a_letter),
        TEST(a_password_matches_itself_and_nothing_else),
        TEST(passwords_have_a_length),
        TEST(a_name_is_taken_in_any_case),
        TEST(roles_that_are_none_are_refused),
        TEST(after_ten_wrong_passwords_each_wait_is_twice_the_last),
        TEST(an_address_that_tries_many_names_waits_too),
        TEST(wrong_passwords_are_forgotten_after_a_day),
        TEST(one_address_makes_twenty_accounts_a_day),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Accounts: names, passwords, roles, and how long wrong passwords make one wait.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/accounts/login.h"
#include "server/accounts/password.h"
#include "server/accounts/users.h"
#include "server/common/file.h"
#include "server/common/str.h"

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

static int64_t anna_is_here(void) {
    return user_create(db, "anna", "", "x", "active", false, 1, &err);
}

// Of accounts that are there and of others: nothing tells them apart.
static void after_ten_wrong_passwords_each_wait_is_twice_the_last(void **state) {
    (void)state;
    int64_t anna = anna_is_here();
    const char *const names[][2] = {{"anna", "ANNA"}, {"nobody", "Nobody"}};
    for (int who = 0; who < 2; who++) {
        const char *name = names[who][0];
        fail_times(9, name, "192.0.2.1", 1000);
        assert_true(wait_for(name, "192.0.2.1", 1000) == 0);
        for (int i = 0; i < 12; i++) {
            double wanted = 30 << i < 3600 ? 30 << i : 3600;
            fail_times(1, names[who][i % 2], "192.0.2.1", 1000);
            assert_true(wait_for(name, "192.0.2.1", 1000) == wanted);
            assert_int_equal(err.status, 429);
            assert_true(wait_for(name, "192.0.2.1", 1000 + wanted) == 0);
        }
        assert_true(wait_for("bert", "192.0.2.1", 1000) == 0);
    }
    assert_true(login_succeeded(db, anna, "192.0.2.1", 1000, &err));
    assert_true(wait_for("anna", "192.0.2.1", 1000) == 0);
}

static void wrong_passwords_from_one_network_hold_up_no_other(void **state) {
    (void)state;
    anna_is_here();
    fail_times(12, "anna", "192.0.2.1", 1000);
    assert_true(wait_for("anna", "192.0.2.1", 1000) == 120);
    assert_true(wait_for("anna", "192.0.2.2", 1000) == 0);
    fail_times(5, "anna", "2001:db8::1", 1000);
    fail_times(5, "anna", "2001:db8::2", 1000);
    assert_true(wait_for("anna", "2001:db8::3", 1000) == 30);
    assert_true(wait_for("anna", "2001:db8:0:1::1", 1000) == 5); // 22 of the account
}

static void
an_account_that_many_networks_guess_at_lets_a_stranger_try_every_five_seconds(void **state) {
    (void)state;
    int64_t anna = anna_is_here();
    char address[32];
    assert_true(login_succeeded(db, anna, "203.0.113.1", 999, &err));
    for (int i = 0; i < 500; i++) {
        snprintf(address, sizeof address, "192.0.%d.%d", i / 200, i % 200);
        fail_times(1, "anna", address, 1000);
    }
    assert_true(wait_for("anna", "198.51.100.1", 1000) == 5);
    assert_true(wait_for("anna", "198.51.100.1", 1005) == 0);
    assert_true(wait_for("anna", "203.0.113.1", 1000) == 0); // known
    assert_true(wait_for("bert", "198.51.100.1", 1000) == 0);
}

static void
a_known_network_waits_for_its_own_wrong_passwords_only_and_a_minute_at_most(void **state) {
    (void)state;
    char name[16];
    int64_t anna = anna_is_here();
    assert_true(login_succeeded(db, anna, "192.0.2.1", 999, &err));
    for (int i = 0; i < 60; i++) {
        snprintf(name, sizeof name, "user%d", i);
        fail_times(1, name, "192.0.2.1", 1000);
    }
    assert_true(wait_for("anna", "192.0.2.1", 1000) == 0);
    assert_true(wait_for("bert", "192.0.2.1", 1000) > 0);
    fail_times(20, "anna", "192.0.2.1", 1000);
    assert_true(wait_for("anna", "192.0.2.1", 1000) == 60);
    assert_true(wait_for("anna", "192.0.2.2", 1000) == 0); // they count against no stranger
}

static void an_account_knows_its_last_twenty_networks(void **state) {
    (void)state;
    char address[32];
    int64_t anna = anna_is_here();
    for (int i = 0; i < 25; i++) {
        snprintf(address, sizeof address, "203.0.113.%d", i);
        assert_true(login_succeeded(db, anna, address, 100 + i, &err));
    }
    fail_times(50, "anna", "192.0.2.1", 1000);
    assert_true(wait_for("anna", "203.0.113.4", 1000) == 5);
    assert_true(wait_for("anna", "203.0.113.5", 1000) == 0);
}

static void the_old_password_is_limited_by_session(void **state) {
    (void)state;
    double wait;
    for (int i = 0; i < 10; i++) {
        assert_true(change_may_try(db, "first", 1000, &wait, &err));
        assert_true(change_failed(db, "first", 1000, &err));
    }
    assert_false(change_may_try(db, "first", 1000, &wait, &err));
    assert_true(wait == 30);
    assert_true(change_may_try(db, "second", 1000, &wait, &err));
}

static void an_address_that_tries_many_names_waits_too(void **state) {
    (void)state;
    char name[16], address[32];
    for (int i = 0; i < 50; i++) {
        assert_true(wait_for("zoe", "2001:db8::1", 1000) == 0);
        snprintf(name, sizeof name, "user%d", i);
        snprintf(address, sizeof address, "2001:db8::%x", i + 1);
        fail_times(1, name, address, 1000);
    }
    assert_true(wait_for("zoe", "2001:db8::ffff", 1000) == 30);
    assert_true(wait_for("zoe", "2001:db8:1::1", 1000) == 0);
}

static void wrong_passwords_are_forgotten_after_a_day(void **state) {
    (void)state;
    int64_t anna = anna_is_here();
    fail_times(30, "anna", "192.0.2.1", 1000);
    assert_true(wait_for("anna", "192.0.2.1", 1000 + 86401) == 0);
    fail_times(1, "anna", "192.0.2.1", 1000 + 86402);
    assert_true(wait_for("anna", "192.0.2.1", 1000 + 86402) == 0);
    fail_times(30, "anna", "192.0.2.1", 1000 + 86403);
    assert_true(login_failures_forget(db, anna, &err)); // the operator's word
    assert_true(wait_for("anna", "192.0.2.1", 1000 + 86403) == 0);
}

static void one_network_makes_twenty_accounts_a_day(void **state) {
    (void)state;
    char address[32];
    for (int i = 0; i < 20; i++) {
        snprintf(address, sizeof address, "2001:db8::%x", i + 1);
        assert_true(signup_may_try(db, address, 1000, &err));
        assert_true(signup_note(db, address, 1000, &err));
    }
    assert_false(signup_may_try(db, "2001:db8::ffff", 1000, &err));
    assert_true(signup_may_try(db, "2001:db8:1::1", 1000, &err));
}

static void
a_password_that_was_hashed_with_less_work_still_matches_and_is_known_as_weak(void **state) {
    (void)state;
    static const char old[] = "scrypt$32768$8$1$00112233445566778899aabbccddeeff$"
                              "5c4efac9c8cfe2a1945dd1852a99d57db1eb071232b2721fcd099f5392ab81cf";
    char *now scope(free_ptr) = password_hash("correct horse");
    assert_true(password_matches(old, "correct horse"));
    assert_false(password_matches(old, "correct hors"));
    assert_true(password_is_weak(old));
    assert_false(password_is_weak(now));
    assert_int_equal(strncmp(now, "scrypt$32768$8$3$", 17), 0);
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
        TEST(wrong_passwords_from_one_network_hold_up_no_other),
        TEST(an_account_that_many_networks_guess_at_lets_a_stranger_try_every_five_seconds),
        TEST(a_known_network_waits_for_its_own_wrong_passwords_only_and_a_minute_at_most),
        TEST(an_account_knows_its_last_twenty_networks),
        TEST(the_old_password_is_limited_by_session),
        TEST(an_address_that_tries_many_names_waits_too),
        TEST(wrong_passwords_are_forgotten_after_a_day),
        TEST(one_network_makes_twenty_accounts_a_day),
        TEST(a_password_that_was_hashed_with_less_work_still_matches_and_is_known_as_weak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

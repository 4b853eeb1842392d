// Signing up and in, and what users do to their own account, on a small database without requests.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/accounts/login.h"
#include "server/accounts/own_account.h"
#include "server/accounts/password.h"
#include "server/accounts/session.h"
#include "server/accounts/users.h"
#include "tests/kit/ledger_kit.h"

static LedgerKit kit;

static int set_up(void **state) {
    (void)state;
    return kit_open(&kit) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    kit_close(&kit);
    return 0;
}

static void is_refused(bool done, int status, const char *code, const char *field) {
    assert_false(done);
    assert_int_equal(kit.err.status, status);
    assert_string_equal(kit.err.code, code);
    assert_string_equal(kit.err.field, field);
}

// ---- signing up ---------------------------------------------------------------------------------

static NewUser newcomer(void) {
    return (NewUser){.name = "dora", .email = "", .password = "12345678", .address = "192.0.2.1"};
}

static void check_refused(NewUser user, int status, const char *code, const char *field) {
    is_refused(signup_check(&kit.turn, &user, &kit.err), status, code, field);
}

static void an_open_server_makes_active_accounts(void **state) {
    (void)state;
    NewUser user = newcomer();
    assert_true(signup_check(&kit.turn, &user, &kit.err));
    int64_t id = signup_store(&kit.turn, &user, "hash", &kit.err);
    char *stored scope(free_ptr) = kit_text(
        &kit, "SELECT name || ' ' || state || ' ' || admin FROM users WHERE id = %d", (int)id);
    assert_string_equal(stored, "dora active 0");
}

static void a_server_that_approves_accounts_makes_pending_ones(void **state) {
    (void)state;
    NewUser user = newcomer();
    kit_sql(&kit, "INSERT INTO settings VALUES ('signup', 'approved')");
    assert_true(signup_check(&kit.turn, &user, &kit.err));
    assert_string_equal(user.state, "pending");
}

static void a_closed_server_makes_no_accounts(void **state) {
    (void)state;
    kit_sql(&kit, "INSERT INTO settings VALUES ('signup', 'closed')");
    check_refused(newcomer(), 403, "signup_closed", "");
}

static void name_password_and_email_of_a_new_account_are_checked(void **state) {
    (void)state;
    NewUser user = newcomer();
    user.name = "d";
    check_refused(user, 422, "bad_name", "name");
    user.name = "ADA"; // of another user, but for case
    check_refused(user, 409, "name_taken", "name");
    user = newcomer();
    user.password = "1234567";
    assert_false(signup_check(&kit.turn, &user, &kit.err));
    assert_string_equal(kit.err.field, "password");
    user = newcomer();
    user.email = "two\nlines";
    assert_false(signup_check(&kit.turn, &user, &kit.err));
    assert_string_equal(kit.err.field, "email");
}

static void new_accounts_of_one_network_are_limited(void **state) {
    (void)state;
    char name[20];
    NewUser user = newcomer();
    user.name = name;
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "user-%d", i);
        assert_true(signup_check(&kit.turn, &user, &kit.err));
        assert_true(signup_store(&kit.turn, &user, "hash", &kit.err) > 0);
    }
    check_refused(newcomer(), 429, "too_many_accounts", "");
    user = newcomer();
    is_refused(signup_store(&kit.turn, &user, "hash", &kit.err), 429, "too_many_accounts", "");
    user.address = "198.51.100.7";
    assert_true(signup_check(&kit.turn, &user, &kit.err));
}

static void a_name_that_was_taken_since_the_check_is_refused(void **state) {
    (void)state;
    NewUser user = newcomer();
    assert_true(signup_check(&kit.turn, &user, &kit.err));
    assert_true(signup_store(&kit.turn, &user, "hash", &kit.err) > 0);
    is_refused(signup_store(&kit.turn, &user, "hash", &kit.err), 409, "name_taken", "name");
}

// ---- signing in ---------------------------------------------------------------------------------

static void a_password_is_compared_with_the_accounts(void **state) {
    (void)state;
    Login login;
    char *hash scope(free_ptr) = password_hash("12345678");
    kit_sql(&kit, "UPDATE users SET password = '%s' WHERE id = 1", hash);
    login_compare(kit.db, "Ada", "12345678", &login);
    assert_true(login.matches && login.user == 1 && !login.admin && !login.new_hash);
    assert_true(login_admit(&kit.turn, &login, &kit.err));
    login_compare(kit.db, "ada", "12345679", &login);
    assert_true(!login.matches && login.user == 1);
    login_compare(kit.db, "nemo", "12345678", &login);
    assert_true(!login.matches && !login.user);
}

static void pending_and_blocked_accounts_cannot_be_entered(void **state) {
    (void)state;
    Login login = {.user = 1, .matches = true, .state = "pending"};
    is_refused(login_admit(&kit.turn, &login, &kit.err), 403, "pending", "");
    snprintf(login.state, sizeof login.state, "blocked");
    is_refused(login_admit(&kit.turn, &login, &kit.err), 403, "blocked", "");
}

static void a_weak_hash_is_replaced_if_it_is_still_the_accounts(void **state) {
    (void)state;
    char new[] = "new", old[] = "x", other[] = "other";
    Login login = {.user = 1, .state = "active", .old_hash = other, .new_hash = new};
    assert_true(login_admit(&kit.turn, &login, &kit.err));
    assert_int_equal(kit_int(&kit, "SELECT password = 'x' FROM users WHERE id = 1"), 1);
    login.old_hash = old;
    assert_true(login_admit(&kit.turn, &login, &kit.err));
    assert_int_equal(kit_int(&kit, "SELECT password = 'new' FROM users WHERE id = 1"), 1);
}

static void wrong_passwords_count_against_a_browser_that_the_account_knows(void **state) {
    (void)state;
    const char *device = "device 1";
    assert_string_equal(login_place(kit.db, "ada", NULL, "192.0.2.1"), "192.0.2.1");
    assert_string_equal(login_place(kit.db, "ada", device, "192.0.2.1"), "192.0.2.1");
    assert_true(login_succeeded(kit.db, 1, device, 1000, &kit.err));
    assert_string_equal(login_place(kit.db, "ada", device, "192.0.2.1"), device);
    assert_string_equal(login_place(kit.db, "ben", device, "192.0.2.1"), "192.0.2.1");
}

// ---- the own account ----------------------------------------------------------------------------

static Viewer ada(void) {
    return (Viewer){.user_id = 1, .name = "ada", .session_hash = "own session"};
}

static void a_new_password_needs_the_old_one(void **state) {
    (void)state;
    Viewer viewer = ada();
    char *hash scope(free_ptr) = password_hash("12345678");
    kit_sql(&kit, "UPDATE users SET password = '%s' WHERE id = 1", hash);
    assert_null(own_password_hash(kit.db, &viewer, "wrong one", "87654321"));
    char *new scope(free_ptr) = own_password_hash(kit.db, &viewer, "12345678", "87654321");
    assert_true(password_matches(new, "87654321"));
}

static int64_t left(const char *table) {
    return kit_int(&kit, "SELECT count(*) FROM %s", table);
}

static void a_new_password_ends_other_sessions_and_if_wanted_the_tokens(void **state) {
    (void)state;
    Viewer viewer = ada();
    NewSession session;
    NewToken token = {.name = "script", .scope = "submit"};
    assert_true(session_start(&kit.turn, 1, "192.0.2.1", &session, &kit.err));
    sha256_hex(session.secret, strlen(session.secret), viewer.session_hash);
    assert_true(session_start(&kit.turn, 1, "192.0.2.1", &session, &kit.err));
    assert_true(session_start(&kit.turn, 2, "192.0.2.1", &session, &kit.err));
    assert_true(own_token_make(&kit.turn, &viewer, &token, &kit.err));
    assert_true(own_password_set(&kit.turn, &viewer, "new hash", false, &kit.err));
    assert_int_equal(left("sessions"), 2); // the viewer's own and ben's
    assert_int_equal(left("api_tokens"), 1);
    assert_true(own_password_set(&kit.turn, &viewer, "new hash", true, &kit.err));
    assert_int_equal(left("api_tokens"), 0);
}

static void wrong_old_passwords_make_a_session_wait_and_no_other(void **state) {
    (void)state;
    double wait;
    Viewer viewer = ada(), other = ada();
    snprintf(other.session_hash, sizeof other.session_hash, "other session");
    for (int i = 0; i < 10; i++)
        assert_true(own_password_failed(&kit.turn, &viewer, &kit.err));
    is_refused(own_password_may_try(&kit.turn, &viewer, &wait, &kit.err), 429, "too_many_attempts",
               "");
    assert_true(wait > 0);
    assert_true(own_password_may_try(&kit.turn, &other, &wait, &kit.err));
}

static void a_token_has_a_name_and_a_scope_that_its_user_may_give(void **state) {
    (void)state;
    Viewer viewer = ada();
    assert_true(own_token_check(&viewer, &(NewToken){.name = "x", .scope = "worker"}, &kit.err));
    NewToken unnamed = {.name = "", .scope = "worker"};
    assert_false(own_token_check(&viewer, &unnamed, &kit.err));
    assert_string_equal(kit.err.field, "name");
    NewToken king = {.name = "x", .scope = "king"};
    is_refused(own_token_check(&viewer, &king, &kit.err), 422, "bad_scope", "scope");
    NewToken admin = {.name = "x", .scope = "admin"};
    is_refused(own_token_check(&viewer, &admin, &kit.err), 403, "forbidden", "scope");
    viewer.admin = true;
    assert_true(own_token_check(&viewer, &admin, &kit.err));
}

static void only_its_user_revokes_a_token(void **state) {
    (void)state;
    Viewer viewer = ada(), ben = {.user_id = 2, .name = "ben"};
    NewToken token = {.name = "script", .scope = "submit"};
    assert_true(own_token_make(&kit.turn, &viewer, &token, &kit.err));
    is_refused(own_token_revoke(&kit.turn, &ben, token.id, &kit.err), 404, "no_such_token", "");
    assert_true(own_token_revoke(&kit.turn, &viewer, token.id, &kit.err));
    is_refused(own_token_revoke(&kit.turn, &viewer, token.id, &kit.err), 404, "no_such_token", "");
}

static void admins_neither_block_themselves_nor_end_their_own_role(void **state) {
    (void)state;
    Viewer viewer = ada();
    is_refused(own_role_check(&viewer, 1, "admin", false, &kit.err), 409, "own_role", "role");
    assert_true(own_role_check(&viewer, 1, "admin", true, &kit.err));
    assert_true(own_role_check(&viewer, 1, "developer", false, &kit.err));
    assert_true(own_role_check(&viewer, 2, "admin", false, &kit.err));
    is_refused(own_state_check(&viewer, 1, &kit.err), 409, "own_state", "state");
    assert_true(own_state_check(&viewer, 2, &kit.err));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(an_open_server_makes_active_accounts),
        CASE(a_server_that_approves_accounts_makes_pending_ones),
        CASE(a_closed_server_makes_no_accounts),
        CASE(name_password_and_email_of_a_new_account_are_checked),
        CASE(new_accounts_of_one_network_are_limited),
        CASE(a_name_that_was_taken_since_the_check_is_refused),
        CASE(a_password_is_compared_with_the_accounts),
        CASE(pending_and_blocked_accounts_cannot_be_entered),
        CASE(a_weak_hash_is_replaced_if_it_is_still_the_accounts),
        CASE(wrong_passwords_count_against_a_browser_that_the_account_knows),
        CASE(a_new_password_needs_the_old_one),
        CASE(a_new_password_ends_other_sessions_and_if_wanted_the_tokens),
        CASE(wrong_old_passwords_make_a_session_wait_and_no_other),
        CASE(a_token_has_a_name_and_a_scope_that_its_user_may_give),
        CASE(only_its_user_revokes_a_token),
        CASE(admins_neither_block_themselves_nor_end_their_own_role),
    };
    return cmocka_run_group_tests_name("accounts", tests, NULL, NULL);
}

// Which machines may register, and which may claim tasks.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/accounts/machine.h"
#include "sql/core.h"
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

static Introduction newcomer(void) {
    return (Introduction){.name = "newcomer",
                          .version = "1.0",
                          .key = "a key of a machine",
                          .public_key = "11111111111111111111111111111111"
                                        "11111111111111111111111111111111",
                          .host = "{\"cpu\":\"x\",\"sandbox\":1}",
                          .cores = 4,
                          .address = "192.0.2.1"};
}

// Gives a user a token of scope worker with this text.
static void give_token(int64_t user, const char *token) {
    char hash[SHA256_HEX_MAX];
    sha256_hex(token, strlen(token), hash);
    kit_sql(&kit,
            "INSERT INTO api_tokens (user_id, token_hash, scope, name, created) "
            "VALUES (%d, '%s', 'worker', 'x', 1)",
            (int)user, hash);
}

static Registration registered(const Introduction *in) {
    Registration out;
    double wait_s;
    if (!machine_register(&kit.turn, in, &out, &wait_s, &kit.err))
        fail_msg("%s", kit.err.message);
    assert_true(wait_s == 0);
    return out;
}

// Returns the seconds to wait.
static double refused(const Introduction *in, int status, const char *code) {
    Registration out;
    double wait_s;
    int64_t before = kit_int(&kit, "SELECT count(*) FROM workers");
    assert_false(machine_register(&kit.turn, in, &out, &wait_s, &kit.err));
    assert_int_equal(kit.err.status, status);
    assert_string_equal(kit.err.code, code);
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM workers"), before);
    return wait_s;
}

// ---- registration -------------------------------------------------------------------------------

static void a_new_machine_gets_a_row_and_a_token(void **state) {
    (void)state;
    Introduction in = newcomer();
    Registration out = registered(&in);
    char hash[SHA256_HEX_MAX];
    sha256_hex(out.token, strlen(out.token), hash);
    assert_true(out.is_new);
    assert_string_equal(out.owner, "");
    char *stored scope(free_ptr) =
        kit_text(&kit,
                 "SELECT format('%%s %%d %%s %%s', name, cores, network, "
                 "token_hash) FROM workers WHERE id = %d",
                 (int)out.id);
    char *wanted scope(free_ptr) = xasprintf("newcomer 4 192.0.2.1 %s", hash);
    assert_string_equal(stored, wanted);
}

static void a_machine_that_registers_again_keeps_its_row_and_gets_another_token(void **state) {
    (void)state;
    Introduction in = newcomer();
    Registration first = registered(&in);
    in.name = "renamed";
    Registration second = registered(&in);
    assert_false(second.is_new);
    assert_int_equal(first.id, second.id);
    assert_string_not_equal(first.token, second.token);
}

static void a_machine_keeps_all_its_keys_until_it_is_forgotten(void **state) {
    (void)state;
    Introduction in = newcomer();
    Registration out = registered(&in);
    registered(&in);
    assert_int_equal(
        kit_int(&kit, "SELECT count(*) FROM worker_keys WHERE worker_id = %d", (int)out.id), 1);
    in.public_key = "2222222222222222222222222222222222222222222222222222222222222222";
    registered(&in);
    assert_int_equal(
        kit_int(&kit, "SELECT count(*) FROM worker_keys WHERE worker_id = %d", (int)out.id), 2);
    assert_int_equal(strlen(out.installation), 32);
    assert_true(sql_machines_forget(kit.db, &kit.err, kit.turn.now + 1));
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM worker_keys"), 0);
}

static void a_machine_with_a_users_token_belongs_to_the_user(void **state) {
    (void)state;
    Introduction in = newcomer();
    give_token(2, "secret");
    in.user_token = "secret";
    Registration out = registered(&in);
    assert_string_equal(out.owner, "ben");
    assert_int_equal(kit_int(&kit, "SELECT user_id FROM workers WHERE id = %d", (int)out.id), 2);
}

static void a_token_that_the_server_does_not_know_is_refused(void **state) {
    (void)state;
    Introduction in = newcomer();
    in.user_token = "secret";
    refused(&in, 401, "bad_token");
}

static void a_blocked_users_token_is_refused(void **state) {
    (void)state;
    Introduction in = newcomer();
    give_token(2, "secret");
    kit_sql(&kit, "UPDATE users SET state = 'blocked' WHERE id = 2");
    in.user_token = "secret";
    refused(&in, 401, "bad_token");
}

static void a_server_may_require_an_account(void **state) {
    (void)state;
    Introduction in = newcomer();
    kit_sql(&kit, "INSERT INTO settings VALUES ('accounts_required', '1')");
    refused(&in, 403, "accounts_required");
    assert_string_equal(kit.err.field, "user_token");
    give_token(2, "secret");
    in.user_token = "secret";
    registered(&in);
}

static void a_blocked_machine_cannot_register_again(void **state) {
    (void)state;
    Introduction in = newcomer();
    Registration out = registered(&in);
    kit_sql(&kit, "UPDATE workers SET blocked = 1 WHERE id = %d", (int)out.id);
    refused(&in, 403, "blocked");
}

static void a_machine_whose_token_was_revoked_registers_with_another(void **state) {
    (void)state;
    Introduction in = newcomer();
    give_token(2, "secret");
    in.user_token = "secret";
    Registration first = registered(&in);
    kit_sql(&kit, "DELETE FROM api_tokens");
    assert_false(machine_may_claim(&kit.turn, first.id, &kit.err));
    assert_string_equal(kit.err.code, "token_revoked");
    give_token(2, "another");
    in.user_token = "another";
    assert_int_equal(registered(&in).id, first.id);
    assert_true(machine_may_claim(&kit.turn, first.id, &kit.err));
}

static void a_new_machine_that_looks_like_a_blocked_one_of_its_network_is_refused(void **state) {
    (void)state;
    Introduction in = newcomer();
    Registration out = registered(&in);
    kit_sql(&kit, "UPDATE workers SET blocked = 1 WHERE id = %d", (int)out.id);
    in.key = "another key of it";
    refused(&in, 403, "blocked");
    in.name = "another name";
    refused(&in, 403, "blocked"); // the hardware is the same
    in.host = "{\"cpu\":\"y\",\"sandbox\":1}";
    registered(&in);
}

static void a_new_machine_of_another_network_is_not_compared_with_a_blocked_one(void **state) {
    (void)state;
    Introduction in = newcomer();
    Registration out = registered(&in);
    kit_sql(&kit, "UPDATE workers SET blocked = 1 WHERE id = %d", (int)out.id);
    in.key = "another key of it";
    in.address = "198.51.100.7";
    registered(&in);
}

static void new_machines_of_one_network_are_limited_within_an_hour(void **state) {
    (void)state;
    char key[32];
    Introduction in = newcomer();
    kit_sql(&kit, "INSERT INTO settings VALUES ('registrations_per_hour', '3')");
    in.key = key;
    for (int i = 0; i < 3; i++) {
        snprintf(key, sizeof key, "key of machine %d", i);
        registered(&in);
    }
    registered(&in); // the last one again is not new
    snprintf(key, sizeof key, "key of machine 3");
    assert_true(refused(&in, 429, "too_many_registrations") == 600);
    in.address = "198.51.100.7";
    registered(&in);
    in.address = "192.0.2.1";
    snprintf(key, sizeof key, "key of machine 4");
    kit.turn.now += 3601;
    registered(&in);
}

// ---- work ---------------------------------------------------------------------------------------

static void a_machine_that_confines_engines_too_little_gets_no_work(void **state) {
    (void)state;
    Introduction in = newcomer();
    int64_t id = registered(&in).id;
    assert_true(machine_may_claim(&kit.turn, id, &kit.err));
    kit_sql(&kit, "INSERT INTO settings VALUES ('sandbox_min', '1')");
    assert_true(machine_may_claim(&kit.turn, id, &kit.err));
    kit_sql(&kit, "UPDATE settings SET value = '2' WHERE name = 'sandbox_min'");
    assert_false(machine_may_claim(&kit.turn, id, &kit.err));
    assert_int_equal(kit.err.status, 403);
    assert_string_equal(kit.err.code, "sandbox_required");
    assert_non_null(strstr(kit.err.message, "sandbox level 2, and this machine has 1"));
    assert_non_null(strstr(kit.err.message, "install bubblewrap"));
}

static void a_blocked_machine_gets_no_work(void **state) {
    (void)state;
    kit_sql(&kit, "UPDATE workers SET blocked = 1 WHERE id = 4");
    assert_false(machine_may_claim(&kit.turn, 4, &kit.err));
    assert_string_equal(kit.err.code, "blocked");
}

static void a_machine_of_a_blocked_account_gets_no_work(void **state) {
    (void)state;
    kit_sql(&kit, "UPDATE users SET state = 'blocked' WHERE id = 2");
    assert_false(machine_may_claim(&kit.turn, 3, &kit.err));
    assert_string_equal(kit.err.code, "blocked");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(a_new_machine_gets_a_row_and_a_token),
        CASE(a_machine_that_registers_again_keeps_its_row_and_gets_another_token),
        CASE(a_machine_keeps_all_its_keys_until_it_is_forgotten),
        CASE(a_machine_with_a_users_token_belongs_to_the_user),
        CASE(a_token_that_the_server_does_not_know_is_refused),
        CASE(a_blocked_users_token_is_refused),
        CASE(a_server_may_require_an_account),
        CASE(a_blocked_machine_cannot_register_again),
        CASE(a_machine_whose_token_was_revoked_registers_with_another),
        CASE(a_new_machine_that_looks_like_a_blocked_one_of_its_network_is_refused),
        CASE(a_new_machine_of_another_network_is_not_compared_with_a_blocked_one),
        CASE(new_machines_of_one_network_are_limited_within_an_hour),
        CASE(a_machine_that_confines_engines_too_little_gets_no_work),
        CASE(a_blocked_machine_gets_no_work),
        CASE(a_machine_of_a_blocked_account_gets_no_work),
    };
    return cmocka_run_group_tests_name("machines", tests, NULL, NULL);
}

// Owners: what a machine sends stands in the name of the owner to which its task was dealt. A
// machine that moves to another account brings nothing along, and has one voice.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "server/ledger/trust.h"
#include "tests/kit/ledger_kit.h"

// Machines 1 and 2 are ada's (user 1), 3 is ben's (2), 4 has no account. User 3 has no machine.
static LedgerKit kit;
static BatchReply posted;
static TaskReply reply;
static int64_t task;

static int open_task(void **state) {
    (void)state;
    task = kit_open_task(&kit);
    kit_sql(&kit, "INSERT INTO records SELECT 'user ' || id, 1 FROM users");
    return task > 0 ? 0 : -1;
}

static int close_kit(void **state) {
    (void)state;
    kit_close(&kit);
    return 0;
}

static void move(int64_t worker, const char *user) {
    kit_sql(&kit, "UPDATE workers SET user_id = %s WHERE id = %lld", user, (long long)worker);
}

static int64_t bench(int64_t of, int64_t worker, int64_t nodes) {
    int64_t established;
    if (!ledger_bench(&kit.turn, of, worker, "new", nodes, &established, &reply, &kit.err))
        fail_msg("bench: %s", kit.err.message);
    return established;
}

static void fail_build(int64_t of, int64_t worker) {
    Failure failure = {.task = of,
                       .worker = worker,
                       .kind = "build",
                       .side = "new",
                       .message = "make ended with status 2",
                       .log = ""};
    if (!ledger_fail(&kit.turn, &failure, &kit.err))
        fail_msg("failure: %s", kit.err.message);
}

static void everything_is_written_in_the_name_of_the_owner_of_its_task(void **state) {
    (void)state;
    kit_claim(&kit, 3, 4, 0); // another owner is here, so one word decides nothing
    move(1, "3");
    assert_int_equal(bench(task, 1, 777), 0);
    const char *options = "option name Hash type spin default 16 min 1 max 64\n";
    assert_true(ledger_option_list(&kit.turn, task, 1, "new", options, &kit.err));
    json_auto_t *result = kit_result_with("0222", "{\"crashes\": 1}");
    Batch batch = kit_batch(task, 1, 0, result);
    assert_true(ledger_batch(&kit.turn, &batch, &posted, &kit.err));
    FaultReport fault = {.task = task,
                         .worker = 1,
                         .sha256 =
                             "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee",
                         .side = "new",
                         .end = "crash",
                         .reason = "signal 11",
                         .content = "x",
                         .content_size = 1};
    assert_true(ledger_fault_report(&kit.turn, &fault, &kit.err));
    fail_build(task, 1);
    static const char *const tables[] = {"tasks",   "benches",       "option_lists",
                                         "batches", "fault_reports", "failures"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char *owner scope(free_ptr) =
            kit_text(&kit, "SELECT group_concat(owner) FROM %s WHERE worker_id = 1", tables[i]);
        if (!owner || strcmp(owner, "user 1") != 0)
            fail_msg("%s: %s", tables[i], owner ? owner : "nothing");
    }
    assert_int_equal(kit_check(&kit), 0);
}

static void a_machine_that_moves_does_not_vote_twice_on_a_bench(void **state) {
    (void)state;
    kit_claim(&kit, 3, 4, 0); // another owner with a record is here
    assert_int_equal(bench(task, 1, 666), 0);
    move(1, "3");
    kit_sql(&kit, "UPDATE workers SET network = '10.9.9.9' WHERE id = 1");
    assert_int_equal(bench(kit_claim(&kit, 1, 4, task), 1, 666), 0);
    char *votes scope(free_ptr) = kit_text(&kit, "SELECT group_concat(owner) FROM benches");
    assert_string_equal(votes, "user 1");
}

static void a_machine_that_moves_is_one_voice_about_failures(void **state) {
    (void)state;
    kit_claim(&kit, 3, 4, 0);
    move(1, "3");
    kit_sql(&kit, "UPDATE workers SET network = '10.9.9.9' WHERE id = 1");
    int64_t second = kit_claim(&kit, 1, 4, task);
    fail_build(task, 1);
    fail_build(second, 1);
    assert_int_equal(kit_int(&kit, "SELECT count(DISTINCT owner) FROM failures"), 2);
    assert_true(kit_result_is(&kit, "")); // two owners, each with a record, would end it
}

static void what_a_machine_said_before_gets_no_record_when_it_joins_one(void **state) {
    (void)state;
    kit_earn(&kit);
    int64_t stranger = kit_claim(&kit, 4, 4, 0);
    assert_int_equal(bench(stranger, 4, 666), 0);
    move(4, "3");
    kit_sql(&kit, "UPDATE workers SET last_seen = 0 WHERE id < 4");
    ledger_settle(&kit.turn);
    assert_int_equal(
        kit_int(&kit, "SELECT coalesce(bench, 0) FROM known_commits WHERE subject = 'new'"), 0);
    fail_build(stranger, 4);
    assert_true(kit_result_is(&kit, ""));
}

static void the_words_of_a_blocked_account_do_not_move_on_with_its_machine(void **state) {
    (void)state;
    int64_t second = kit_claim(&kit, 3, 4, 0);
    assert_int_equal(bench(task, 1, 666), 0);
    kit_sql(&kit, "UPDATE users SET state = 'blocked' WHERE id = 1");
    move(1, "3");
    move(4, "3");
    kit_claim(&kit, 4, 4, 0);                   // a third owner, who has not measured
    assert_int_equal(bench(second, 3, 666), 0); // ben's is the only word
}

// ---- levels -------------------------------------------------------------------------------------

static int64_t level_of(int64_t worker) {
    return kit_int(&kit, "SELECT level FROM levels WHERE worker_id = %lld", (long long)worker);
}

static void set_trust(const char *mode) {
    kit_sql(&kit, "INSERT OR REPLACE INTO settings VALUES ('trust', '%s')", mode);
}

static void while_trust_is_private_every_owner_is_vouched_for(void **state) {
    (void)state;
    kit_sql(&kit, "DELETE FROM records");
    for (int64_t worker = 1; worker <= 4; worker++)
        assert_int_equal(level_of(worker), LEVEL_VOUCHED);
    set_trust("public"); // it was the setting's effect, and ends with it
    for (int64_t worker = 1; worker <= 4; worker++)
        assert_int_equal(level_of(worker), LEVEL_UNPROVEN);
}

static void clicks_roles_and_records_make_a_level(void **state) {
    (void)state;
    set_trust("public");
    kit_sql(&kit, "DELETE FROM records");
    kit_sql(&kit, "INSERT INTO records VALUES ('user 1', 1), ('network ', 1)");
    assert_int_equal(level_of(1), LEVEL_RECORDED);
    assert_int_equal(level_of(3), LEVEL_UNPROVEN);
    assert_int_equal(level_of(4), LEVEL_UNPROVEN); // a network has no record
    kit_sql(&kit, "INSERT INTO roles VALUES (1, 1, 'developer')");
    kit_sql(&kit, "UPDATE users SET admin = 1 WHERE id = 2");
    kit_sql(&kit,
            "INSERT INTO vouches (owner, user_id, reason, created) VALUES ('network ', 2, '', 1)");
    assert_int_equal(level_of(1), LEVEL_VOUCHED);
    assert_int_equal(level_of(3), LEVEL_VOUCHED);
    assert_int_equal(level_of(4), LEVEL_VOUCHED);
    kit_sql(&kit, "UPDATE vouches SET undone = 2, undone_by = 2");
    kit_sql(&kit, "DELETE FROM roles");
    assert_int_equal(level_of(1), LEVEL_RECORDED);
    assert_int_equal(level_of(4), LEVEL_UNPROVEN);
}

static void the_level_is_fixed_when_a_task_is_dealt(void **state) {
    (void)state;
    kit_earn(&kit);
    int64_t before = kit_claim(&kit, 4, 4, 0);
    kit_sql(&kit,
            "INSERT INTO vouches (owner, user_id, reason, created) VALUES ('network ', 2, '', 1)");
    int64_t after = kit_claim(&kit, 4, 4, before);
    assert_true(kit_post(&kit, before, 4, 0, "2222", &posted));
    assert_int_equal(bench(before, 4, 777), 0);
    kit_sql(&kit, "DELETE FROM vouches");
    assert_true(kit_post(&kit, after, 4, 0, "2222", &posted));
    assert_int_equal(
        kit_int(&kit, "SELECT level FROM batches WHERE task_id = %lld", (long long)before),
        LEVEL_UNPROVEN);
    assert_int_equal(kit_int(&kit, "SELECT level FROM benches WHERE worker_id = 4"),
                     LEVEL_UNPROVEN);
    assert_int_equal(
        kit_int(&kit, "SELECT level FROM batches WHERE task_id = %lld", (long long)after),
        LEVEL_VOUCHED);
    assert_int_equal(kit_check(&kit), 0);
}

// User 1 is the author of test 1.
static void what_an_author_vouches_for_is_not_vouched_for_in_tests_of_the_author(void **state) {
    (void)state;
    set_trust("public");
    kit_sql(&kit,
            "INSERT INTO vouches (owner, user_id, reason, created) VALUES ('user 2', 1, '', 1)");
    kit_sql(&kit, "UPDATE tests SET units_counted = 1000"); // of other vouched owners
    int64_t own = kit_claim(&kit, 3, 4, 0);
    assert_int_equal(kit_int(&kit, "SELECT level FROM tasks WHERE id = %lld", (long long)own),
                     LEVEL_RECORDED);
    kit_sql(&kit, "UPDATE tests SET author_id = 3");
    int64_t other = kit_claim(&kit, 3, 4, own);
    assert_int_equal(kit_int(&kit, "SELECT level FROM tasks WHERE id = %lld", (long long)other),
                     LEVEL_VOUCHED);
}

static void a_maintainer_vouches_for_an_owner_and_takes_it_back(void **state) {
    (void)state;
    set_trust("public");
    assert_true(ledger_vouch(&kit.turn, 4, true, 2, "a friend", &kit.err));
    assert_int_equal(level_of(4), LEVEL_VOUCHED);
    assert_false(ledger_vouch(&kit.turn, 4, true, 2, "", &kit.err));
    assert_string_equal(kit.err.code, "wrong_state");
    assert_true(ledger_vouch(&kit.turn, 4, false, 1, "", &kit.err));
    assert_int_equal(level_of(4), LEVEL_UNPROVEN);
    assert_false(ledger_vouch(&kit.turn, 4, false, 1, "", &kit.err));
    assert_string_equal(kit.err.code, "wrong_state");
    assert_false(ledger_vouch(&kit.turn, 3, true, 2, "", &kit.err)); // machine 3 is that of user 2
    assert_string_equal(kit.err.code, "own_account");
    assert_false(ledger_vouch(&kit.turn, 99, true, 2, "", &kit.err));
    assert_string_equal(kit.err.code, "no_such_machine");
    char *events scope(free_ptr) = kit_text(
        &kit, "SELECT group_concat(type || ' ' || user_id || ' ' || message, '; ') FROM events "
              "WHERE worker_id = 4");
    assert_string_equal(events, "vouched 2 vouches for this machine's owner: a friend; unvouched 1 "
                                "no longer vouches for this machine's owner");
    assert_int_equal(
        kit_int(&kit, "SELECT count(*) FROM vouches WHERE user_id = 2 AND undone_by = 1"), 1);
}

#define WITH_TASK(test) cmocka_unit_test_setup_teardown(test, open_task, close_kit)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_TASK(everything_is_written_in_the_name_of_the_owner_of_its_task),
        WITH_TASK(a_machine_that_moves_does_not_vote_twice_on_a_bench),
        WITH_TASK(a_machine_that_moves_is_one_voice_about_failures),
        WITH_TASK(what_a_machine_said_before_gets_no_record_when_it_joins_one),
        WITH_TASK(while_trust_is_private_every_owner_is_vouched_for),
        WITH_TASK(clicks_roles_and_records_make_a_level),
        WITH_TASK(the_level_is_fixed_when_a_task_is_dealt),
        WITH_TASK(what_an_author_vouches_for_is_not_vouched_for_in_tests_of_the_author),
        WITH_TASK(a_maintainer_vouches_for_an_owner_and_takes_it_back),
        WITH_TASK(the_words_of_a_blocked_account_do_not_move_on_with_its_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

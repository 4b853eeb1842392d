// Requests for the role developer: who may ask, who may answer, and that an answer gives no more
// than was asked for.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/submit/role_request.h"
#include "sql/users.h"
#include "tests/kit/submit_kit.h"

static void second_engine(SubmitKit *kit) {
    kit_sql(&kit->ledger,
            "INSERT INTO engines (id, name, title, baseline, build, reference_commit, "
            "reference_speed, created) SELECT 2, 'other', title, baseline, build, "
            "reference_commit, reference_speed, created FROM engines");
}

static bool ask(SubmitKit *kit, int64_t user, const char *engine, const char *text) {
    bool good = role_request_ask(submit_kit_as(kit, user), engine, text, &kit->ledger.err);
    kit_turn(&kit->ledger);
    return good;
}

static bool answer(SubmitKit *kit, int64_t user, bool give) {
    int64_t id = kit_int(&kit->ledger, "SELECT max(id) FROM role_requests");
    json_auto_t *done = role_request_answer(submit_kit_as(kit, user), id, give, &kit->ledger.err);
    kit_turn(&kit->ledger);
    return done;
}

static int64_t roles_of(SubmitKit *kit, int64_t user) {
    return kit_int(&kit->ledger, "SELECT count(*) FROM roles WHERE user_id = %d", (int)user);
}

static void a_maintainer_gives_the_role_developer_of_the_engine_and_no_other(void **state) {
    SubmitKit *kit = *state;
    second_engine(kit);
    assert_true(ask(kit, KIT_USER, "anvil", "I write an engine"));
    assert_true(answer(kit, KIT_MAINTAINER, true));
    assert_int_equal(roles_of(kit, KIT_USER), 1);
    assert_int_equal(kit_int(&kit->ledger,
                             "SELECT count(*) FROM roles WHERE user_id = %d AND "
                             "engine_id = 1 AND role = 'developer'",
                             KIT_USER),
                     1);
    assert_false(answer(kit, KIT_MAINTAINER, true));
    assert_false(ask(kit, KIT_USER, "anvil", "again"));
    assert_string_equal(kit->ledger.err.code, "has_role");
}

static void people_without_that_role_answer_nothing(void **state) {
    SubmitKit *kit = *state;
    second_engine(kit);
    assert_true(ask(kit, KIT_USER, "other", "please"));
    const int64_t others[] = {KIT_AUTHOR, KIT_DEVELOPER, KIT_USER, KIT_MAINTAINER};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_false(answer(kit, others[i], true));
        assert_int_equal(kit->ledger.err.status, 403);
    }
    assert_int_equal(roles_of(kit, KIT_USER), 0);
}

static void a_maintainers_token_for_submitting_answers_nothing(void **state) {
    SubmitKit *kit = *state;
    assert_true(ask(kit, KIT_USER, "anvil", "please"));
    Caller caller = *submit_kit_as(kit, KIT_MAINTAINER);
    snprintf(kit->viewer.scope, sizeof kit->viewer.scope, "submit");
    assert_null(role_request_answer(&caller, 1, true, &kit->ledger.err));
    assert_int_equal(kit->ledger.err.status, 403);
}

static void asking_again_and_again_is_bounded(void **state) {
    SubmitKit *kit = *state;
    assert_true(ask(kit, KIT_USER, "anvil", "please"));
    assert_false(ask(kit, KIT_USER, "anvil", "please"));
    assert_string_equal(kit->ledger.err.code, "asked_already");
    assert_true(answer(kit, KIT_MAINTAINER, false));
    assert_int_equal(roles_of(kit, KIT_USER), 0);
    assert_false(ask(kit, KIT_USER, "anvil", "please"));
    kit->ledger.turn.now += ROLE_REQUEST_AGAIN_DAYS * 86400;
    assert_true(ask(kit, KIT_USER, "anvil", "please, again"));
    assert_int_equal(kit_int(&kit->ledger, "SELECT count(*) FROM open_role_requests"), 1);
}

static void the_text_is_one_line_of_at_most_two_hundred_bytes(void **state) {
    SubmitKit *kit = *state;
    char text[ROLE_REQUEST_TEXT_MAX + 2];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    const char *const bad[] = {"", "   ", "two\nlines", text};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(ask(kit, KIT_USER, "anvil", bad[i]));
        assert_string_equal(kit->ledger.err.field, "text");
    }
    text[ROLE_REQUEST_TEXT_MAX] = '\0';
    assert_true(ask(kit, KIT_USER, "anvil", text));
}

static void the_request_of_a_blocked_account_cannot_be_granted(void **state) {
    SubmitKit *kit = *state;
    assert_true(ask(kit, KIT_USER, "anvil", "please"));
    kit_sql(&kit->ledger, "UPDATE users SET state = 'blocked' WHERE id = %d", KIT_USER);
    assert_false(answer(kit, KIT_MAINTAINER, true));
    assert_string_equal(kit->ledger.err.code, "no_such_request");
    assert_int_equal(roles_of(kit, KIT_USER), 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, submit_kit_set_up, submit_kit_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_maintainer_gives_the_role_developer_of_the_engine_and_no_other),
        TEST(people_without_that_role_answer_nothing),
        TEST(a_maintainers_token_for_submitting_answers_nothing),
        TEST(asking_again_and_again_is_bounded),
        TEST(the_text_is_one_line_of_at_most_two_hundred_bytes),
        TEST(the_request_of_a_blocked_account_cannot_be_granted),
    };
    return cmocka_run_group_tests_name("role_request", tests, NULL, NULL);
}

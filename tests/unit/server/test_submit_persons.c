// Who may do what, action by person, written out by hand: a right that the table of
// server/submit/rights.c gives by mistake is seen even though pages and calls agree on it, which is
// all that test_submit_rights.c compares.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "server/common/str.h"
#include "server/submit/actions.h"
#include "server/submit/submit.h"
#include "tests/kit/action_kit.h"
#include "tests/kit/submit_kit.h"

typedef enum {
    STRANGER,     // not signed in
    USER,         // without a role
    OTHER_ENGINE, // a maintainer of another engine
    DEVELOPER,    // of the engine, not the author
    AUTHOR,       // and a developer
    OLD_AUTHOR,   // the author, who is no developer any more
    TOKEN,        // of a maintainer, for submitting alone
    MAINTAINER,
    OWN_TEST, // a maintainer who is the author
    ADMIN,
    PERSON_COUNT,
} Person;

static const struct {
    const char *name;
    int64_t user;
    bool is_author;
} persons[PERSON_COUNT] = {
    [STRANGER] = {.name = "a stranger", .user = KIT_NOBODY},
    [USER] = {.name = "a user", .user = KIT_USER},
    [OTHER_ENGINE] = {.name = "another engine's maintainer", .user = KIT_USER},
    [DEVELOPER] = {.name = "another developer", .user = KIT_DEVELOPER},
    [AUTHOR] = {.name = "the author", .user = KIT_AUTHOR, .is_author = true},
    [OLD_AUTHOR] = {.name = "an author without a role", .user = KIT_USER, .is_author = true},
    [TOKEN] = {.name = "a maintainer's token for submitting", .user = KIT_MAINTAINER},
    [MAINTAINER] = {.name = "a maintainer", .user = KIT_MAINTAINER},
    [OWN_TEST] = {.name = "a maintainer as the author", .user = KIT_MAINTAINER, .is_author = true},
    [ADMIN] = {.name = "an admin", .user = KIT_USER},
};

enum { ACTION_SUBMIT = ACTION_COUNT, ACTION_BLOCK, ACTION_VOUCH }; // not about a test

#define ACTIVE "UPDATE tests SET state = 'active', approved_hash = 'x'"
#define PAUSED "UPDATE tests SET state = 'paused', approved_hash = 'x'"
#define ENDED "UPDATE tests SET state = 'finished', finished = 1, approved_hash = 'x', "
#define MERGED                                                                                     \
    ENDED "result = 'accepted', merged = 1, merged_onto = (SELECT baseline FROM engines), "        \
          "merged_commit = (SELECT baseline FROM engines)"
#define NET_MISSING                                                                                \
    "UPDATE commits SET net = 'cd678642492f', files = '[{\"blob\":\"cd\",\"path\":\"n\"}]' "       \
    "WHERE sha = (SELECT sha FROM sides WHERE side = 'new')"

// The status of each answer, 0 where it is done, to the persons in their order. The action fits the
// state of the test.
// clang-format off
static const struct {
    int action;
    const char *situation; // "": test 1 is pending
    int status[PERSON_COUNT];
} rights_by_hand[] = {
    // stranger, user, other engine, developer, author, old author, token, maintainer, own, admin
    {.action = ACTION_SUBMIT, .situation = "",
     .status = {401, 403, 403,   0,   0, 403,   0,   0,   0,   0}},
    {.action = ACTION_UPLOAD_NET, .situation = NET_MISSING,
     .status = {401, 403, 403,   0,   0, 403,   0,   0,   0,   0}},
    {.action = ACTION_APPROVE, .situation = "",
     .status = {401, 403, 403, 403, 403, 403, 403,   0, 403,   0}},
    {.action = ACTION_PAUSE, .situation = ACTIVE,
     .status = {401, 403, 403, 403,   0,   0, 403,   0,   0,   0}},
    {.action = ACTION_RESUME, .situation = PAUSED,
     .status = {401, 403, 403, 403,   0,   0, 403,   0,   0,   0}},
    {.action = ACTION_RESUME, .situation = ENDED "result = 'failed'",
     .status = {401, 403, 403, 403, 403, 403, 403,   0,   0,   0}},
    {.action = ACTION_REOPEN, .situation = ENDED "result = 'accepted'",
     .status = {401, 403, 403, 403, 403, 403, 403,   0,   0,   0}},
    {.action = ACTION_MODIFY, .situation = "",
     .status = {401, 403, 403, 403,   0,   0, 403,   0,   0,   0}},
    {.action = ACTION_MODIFY, .situation = ACTIVE,
     .status = {401, 403, 403, 403,   0,   0, 403,   0,   0,   0}},
    {.action = ACTION_DESCRIBE, .situation = ENDED "result = 'rejected'",
     .status = {401, 403, 403, 403,   0,   0, 403,   0,   0,   0}},
    {.action = ACTION_STOP, .situation = "",
     .status = {401, 403, 403, 403,   0,   0, 403,   0,   0,   0}},
    {.action = ACTION_STOP, .situation = ACTIVE,
     .status = {401, 403, 403, 403,   0,   0, 403,   0,   0,   0}},
    {.action = ACTION_HARMFUL, .situation = ACTIVE,
     .status = {401, 403, 403, 403, 403, 403, 403,   0,   0,   0}},
    {.action = ACTION_EXCLUDE, .situation = ACTIVE,
     .status = {401, 403, 403, 403, 403, 403, 403,   0,   0,   0}},
    {.action = ACTION_INCLUDE, .situation = ACTIVE,
     .status = {401, 403, 403, 403, 403, 403, 403,   0,   0,   0}},
    {.action = ACTION_READMIT, .situation = ACTIVE,
     .status = {401, 403, 403, 403, 403, 403, 403,   0,   0,   0}},
    {.action = ACTION_BENCH, .situation = ACTIVE,
     .status = {401, 403, 403, 403, 403, 403, 403,   0,   0,   0}},
    {.action = ACTION_MERGE, .situation = ENDED "result = 'accepted'",
     .status = {401, 403, 403, 403, 403, 403, 403,   0,   0,   0}},
    {.action = ACTION_UNDO, .situation = MERGED,
     .status = {401, 403, 403, 403, 403, 403, 403,   0,   0,   0}},
    {.action = ACTION_BLOCK, .situation = "",
     .status = {401, 403,   0, 403, 403, 403, 403,   0,   0,   0}},
    {.action = ACTION_VOUCH, .situation = "",
     .status = {401, 403,   0, 403, 403, 403, 403,   0,   0,   0}},
};
// clang-format on
enum { RIGHTS_BY_HAND = sizeof rights_by_hand / sizeof *rights_by_hand };

static const Caller *caller_as(SubmitKit *kit, Person person) {
    kit_sql(&kit->ledger, "UPDATE tests SET author_id = %d",
            persons[person].is_author ? (int)persons[person].user : KIT_AUTHOR);
    kit_sql(&kit->ledger, "DELETE FROM roles WHERE user_id = %d", KIT_USER);
    if (person == OTHER_ENGINE)
        kit_sql(&kit->ledger, "INSERT INTO roles VALUES (%d, 2, 'maintainer')", KIT_USER);
    const Caller *caller = submit_kit_as(kit, persons[person].user);
    kit->viewer.admin = person == ADMIN;
    snprintf(kit->viewer.scope, sizeof kit->viewer.scope, "%s", person == TOKEN ? "submit" : "");
    return caller;
}

static bool act(int action, const Caller *caller, Error *err) {
    if (action == ACTION_BLOCK)
        return submit_block(caller, 1, true, "", err);
    if (action == ACTION_VOUCH)
        return submit_vouch(caller, 4, true, "", err);
    if (action < ACTION_COUNT)
        return kit_act((Action)action, caller, err);
    SqlEngineById engine scope(sql_row_free) = {0};
    return submit_engine(caller->turn->db, "anvil", &engine, err) &&
           right_to_submit(caller, &engine, err);
}

static void check_row(SubmitKit *kit, size_t row) {
    kit_sql(&kit->ledger,
            "INSERT INTO engines (id, name, title, baseline, build, reference_commit, "
            "reference_speed, created) SELECT 2, 'other', title, baseline, build, "
            "reference_commit, reference_speed, created FROM engines");
    if (*rights_by_hand[row].situation)
        kit_sql(&kit->ledger, "%s", rights_by_hand[row].situation);
    for (Person person = 0; person < PERSON_COUNT; person++) {
        Error err = {0};
        int action = rights_by_hand[row].action;
        const Caller *caller = caller_as(kit, person);
        db_savepoint(kit->ledger.db);
        int status = act(action, caller, &err) ? 0 : err.status;
        db_savepoint_undo(kit->ledger.db);
        if (status != rights_by_hand[row].status[person])
            fail_msg("row %zu, action %d (%s) by %s: %d (%s), not %d", row, action,
                     action < ACTION_COUNT && action_name((Action)action)
                         ? action_name((Action)action)
                         : "no button",
                     persons[person].name, status, err.message, rights_by_hand[row].status[person]);
    }
}

static void each_person_may_do_what_the_table_says_and_no_more(void **state) {
    (void)state;
    bool seen[ACTION_COUNT] = {false};
    for (size_t row = 0; row < RIGHTS_BY_HAND; row++) {
        SubmitKit kit;
        assert_true(submit_kit_open(&kit));
        check_row(&kit, row);
        submit_kit_close(&kit);
        if (rights_by_hand[row].action < ACTION_COUNT)
            seen[rights_by_hand[row].action] = true;
    }
    for (Action action = 0; action < ACTION_COUNT; action++)
        if (!seen[action])
            fail_msg("action %d has no row in rights_by_hand", (int)action);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_person_may_do_what_the_table_says_and_no_more),
    };
    return cmocka_run_group_tests_name("submit_persons", tests, NULL, NULL);
}

// Documents of tests, lists, machines and users on a small database, and what different viewers see
// of them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/common/json_member.h"
#include "server/pages/doc.h"
#include "server/pages/page_new.h"
#include "server/submit/fields.h"
#include "tests/kit/submit_kit.h"

static SubmitKit kit;

// The fixture's people and machines get something that is not for others.
static int set_up(void **state) {
    (void)state;
    if (!submit_kit_open(&kit))
        return -1;
    kit_sql(&kit.ledger,
            "UPDATE users SET password = 'secret-' || name, email = name || '@secret'");
    kit_sql(&kit.ledger, "UPDATE workers SET machine_key_hash = 'secret-key-' || id, token_hash = "
                         "'secret-token-' || id, address = '192.0.2.' || id, network = '192.0.2.' "
                         "|| id, user_token_hash = iif(user_id = 1, 'secret-of-ada', '')");
    kit_sql(&kit.ledger, "INSERT INTO api_tokens (user_id, token_hash, scope, name, created) "
                         "VALUES (1, 'secret-of-ada', 'worker', 'home', 1)");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    submit_kit_close(&kit);
    return 0;
}

static DocContext seen_by(int64_t user) {
    submit_kit_as(&kit, user);
    return (DocContext){.db = kit.ledger.db,
                        .now = kit.ledger.turn.now,
                        .viewer = &kit.viewer,
                        .data = kit.ledger.folder};
}

static json_t *test_seen_by(int64_t user) {
    Error err;
    DocContext ctx = seen_by(user);
    json_t *document = doc_test(&ctx, 1, &err);
    if (!document)
        fail_msg("%s", err.message);
    return document;
}

// The member at "a.b.c"; borrowed.
static const json_t *at(const json_t *document, const char *path) {
    while (*path && document) {
        size_t size = strcspn(path, ".");
        char *name scope(free_ptr) = xstrndup(path, size);
        document = json_object_get(document, name);
        path += size + (path[size] == '.');
    }
    return document;
}

static void assert_text(const json_t *document, const char *path, const char *wanted) {
    const char *text = json_string_value(at(document, path));
    assert_string_equal(text ? text : "(none)", wanted);
}

static void assert_whole(const json_t *document, const char *path, int64_t wanted) {
    assert_true(json_is_integer(at(document, path)));
    assert_int_equal(json_integer_value(at(document, path)), wanted);
}

static void assert_lacks(const json_t *document, const char *words) {
    char *text scope(free_ptr) = json_dumps(document, 0);
    if (strstr(text, words))
        fail_msg("'%s' is in %s", words, text);
}

static void assert_no_secrets(const json_t *document) {
    assert_non_null(document);
    assert_lacks(document, "secret");
    assert_lacks(document, "192.0.2.");
}

// ---- a test -------------------------------------------------------------------------------------

// Worker 1 plays two batches of test 1.
static void play(void) {
    BatchReply reply;
    kit_sql(&kit.ledger, "INSERT INTO settings VALUES ('task_seconds', '155')");
    kit_activate(&kit.ledger, 1);
    int64_t task = kit_claim(&kit.ledger, 1, 4, 0);
    assert_true(task > 0);
    assert_true(kit_post(&kit.ledger, task, 1, 0, "0124", &reply));
    assert_true(kit_post(&kit.ledger, task, 1, 1, "2344", &reply));
}

static void a_running_test_shows_the_counts_of_the_ledger(void **state) {
    (void)state;
    play();
    json_auto_t *test = test_seen_by(KIT_NOBODY);
    json_auto_t *ptnml = json_pack("[i, i, i, i, i]", 1, 1, 2, 1, 3);
    assert_text(test, "state", "active");
    assert_true(json_equal(at(test, "stats.ptnml"), ptnml));
    assert_whole(test, "stats.games", 16);
    static const char *const counts[] = {"wins", "losses", "draws"};
    for (size_t i = 0; i < 3; i++) {
        char *path scope(free_ptr) = xasprintf("stats.%s", counts[i]);
        assert_whole(test, path,
                     kit_int(&kit.ledger, "SELECT counts ->> '$.%s' FROM tests", counts[i]));
    }
    char *llr scope(free_ptr) =
        kit_text(&kit.ledger, "SELECT format('%%.9f', points ->> '$.llr') FROM tests");
    char *shown scope(free_ptr) = xasprintf("%.9f", json_real_value(at(test, "stats.llr")));
    assert_string_equal(shown, llr);
    assert_int_equal(kit_check(&kit.ledger), 0);
}

static void a_running_test_names_the_machines_that_played(void **state) {
    (void)state;
    play();
    json_auto_t *test = test_seen_by(KIT_NOBODY);
    const json_t *workers = at(test, "workers");
    assert_int_equal(json_array_size(workers), 1);
    assert_text(json_array_get(workers, 0), "name", "one");
    assert_text(json_array_get(workers, 0), "user", "ada");
    assert_whole(json_array_get(workers, 0), "pairs", 8);
}

static void a_pending_test_has_no_results_and_no_rate(void **state) {
    (void)state;
    json_auto_t *test = test_seen_by(KIT_NOBODY);
    assert_text(test, "state", "pending");
    assert_whole(test, "stats.games", 0);
    assert_true(json_is_null(at(test, "stats.plain")));
    assert_true(json_real_value(at(test, "games_per_minute")) == 0);
}

static void a_finished_test_shows_its_verdict(void **state) {
    (void)state;
    play();
    kit.ledger.turn.now += 600;
    assert_true(ledger_test_finish(&kit.ledger.turn, 1, 0, "accepted", "accepted", "LLR 2.95",
                                   &kit.ledger.err));
    json_auto_t *test = test_seen_by(KIT_NOBODY);
    assert_text(test, "state", "finished");
    assert_text(test, "result", "accepted");
    assert_text(test, "stats.color", "green");
    assert_true(json_real_value(at(test, "finished")) == kit.ledger.turn.now);
    assert_true(json_is_null(at(test, "stats.eta")));
}

// ---- who may do what to it ----------------------------------------------------------------------

static void assert_may(int64_t user, const char *action, bool wanted) {
    json_auto_t *test = test_seen_by(user);
    const json_t *ok = at(at(test, "actions"), action);
    assert_non_null(ok);
    if (json_is_true(at(ok, "ok")) != wanted)
        fail_msg("%s by '%s': %s", action, kit.viewer.name, member_text(ok, "why"));
}

static void visitors_see_a_test_and_may_do_nothing_to_it(void **state) {
    (void)state;
    json_auto_t *test = test_seen_by(KIT_NOBODY);
    const char *name;
    json_t *action;
    json_object_foreach ((json_t *)at(test, "actions"), name, action) {
        assert_true(json_is_false(json_object_get(action, "ok")));
        assert_text(action, "why", "sign in first");
    }
    assert_no_secrets(test);
}

static void the_author_may_stop_a_test_and_not_approve_it(void **state) {
    (void)state;
    assert_may(KIT_AUTHOR, "stop", true);
    assert_may(KIT_AUTHOR, "modify", true);
    assert_may(KIT_AUTHOR, "approve", false);
    assert_may(KIT_DEVELOPER, "stop", false);
}

static void a_maintainer_may_approve_a_test_and_stop_it(void **state) {
    (void)state;
    assert_may(KIT_MAINTAINER, "approve", true);
    assert_may(KIT_MAINTAINER, "stop", true);
    json_auto_t *test = test_seen_by(KIT_MAINTAINER);
    assert_no_secrets(test);
}

static void only_actions_depend_on_the_viewer_of_a_test(void **state) {
    (void)state;
    play();
    json_auto_t *visitors = test_seen_by(KIT_NOBODY);
    json_auto_t *maintainers = test_seen_by(KIT_MAINTAINER);
    json_object_del(visitors, "actions");
    json_object_del(maintainers, "actions");
    assert_true(json_equal(visitors, maintainers));
}

// ---- lists --------------------------------------------------------------------------------------

// How many tests the list with this query parameter has; -1: it is refused.
static int listed(const char *name, const char *value) {
    Params query = {0};
    DocContext ctx = seen_by(KIT_NOBODY);
    params_add(&query, name, strlen(name), value, strlen(value));
    ctx.query = &query;
    json_auto_t *document = doc_tests(&ctx, &kit.ledger.err);
    params_release(&query);
    return document ? (int)json_array_size(json_object_get(document, "items")) : -1;
}

static void a_list_has_the_tests_of_one_state(void **state) {
    (void)state;
    assert_int_equal(listed("state", "pending"), 1);
    assert_int_equal(listed("state", "active"), 0);
    play();
    assert_int_equal(listed("state", "pending"), 0);
    assert_int_equal(listed("state", "active"), 1);
    assert_int_equal(listed("state", "asleep"), -1);
    assert_string_equal(kit.ledger.err.code, "bad_field");
}

static void finished_tests_are_listed_by_author_and_color(void **state) {
    (void)state;
    play();
    assert_int_equal(listed("state", "finished"), 0);
    assert_true(ledger_test_finish(&kit.ledger.turn, 1, 0, "accepted", "accepted", "LLR 2.95",
                                   &kit.ledger.err));
    assert_int_equal(listed("state", "finished"), 1);
    assert_int_equal(listed("user", "ada"), 1);
    assert_int_equal(listed("user", "ben"), 0);
    assert_int_equal(listed("color", "green"), 1);
    assert_int_equal(listed("color", "red"), 0);
    assert_int_equal(listed("color", "purple"), -1);
}

static void the_home_page_has_every_open_test_in_its_list(void **state) {
    (void)state;
    play();
    DocContext ctx = seen_by(KIT_NOBODY);
    json_auto_t *home = doc_home(&ctx);
    assert_int_equal(json_array_size(at(home, "active.items")), 1);
    assert_int_equal(json_array_size(at(home, "pending.items")), 0);
    assert_no_secrets(home);
}

static void lists_of_events_and_machines_hold_no_secrets(void **state) {
    (void)state;
    play();
    DocContext ctx = seen_by(KIT_NOBODY);
    json_auto_t *events = doc_events(&ctx, &kit.ledger.err);
    json_auto_t *machines = doc_machines(&ctx, &kit.ledger.err);
    assert_no_secrets(events);
    assert_no_secrets(machines);
    assert_int_equal(json_array_size(at(machines, "items")), 4);
}

// ---- machines and users -------------------------------------------------------------------------

static void a_machine_shows_its_tasks_and_not_its_address(void **state) {
    (void)state;
    play();
    kit_sql(&kit.ledger, "DELETE FROM settings WHERE name = 'rerun_percent'");
    for (int64_t user = KIT_NOBODY; user <= KIT_DEVELOPER; user++) {
        DocContext ctx = seen_by(user);
        json_auto_t *machine = doc_machine(&ctx, 1, &kit.ledger.err);
        assert_no_secrets(machine);
        assert_text(machine, "machine.name", "one");
        assert_text(machine, "machine.user", "ada");
        assert_int_equal(json_array_size(at(machine, "tasks")), 1);
        bool may_block = json_is_true(at(machine, "actions.block.ok"));
        assert_int_equal(may_block, user == KIT_MAINTAINER);
        assert_int_equal(json_is_true(at(machine, "actions.retest.ok")), may_block);
    }
}

static void a_blocked_machine_may_be_unblocked_by_a_maintainer(void **state) {
    (void)state;
    kit_sql(&kit.ledger, "UPDATE workers SET blocked = 1 WHERE id = 1");
    DocContext ctx = seen_by(KIT_MAINTAINER);
    json_auto_t *machine = doc_machine(&ctx, 1, &kit.ledger.err);
    assert_true(json_is_true(at(machine, "machine.blocked")));
    assert_true(json_is_true(at(machine, "actions.unblock.ok")));
    assert_null(at(machine, "actions.block"));
    assert_null(at(machine, "actions.retest"));
}

static void a_user_is_shown_without_email_password_and_tokens(void **state) {
    (void)state;
    for (int64_t user = KIT_NOBODY; user <= KIT_DEVELOPER; user++) {
        DocContext ctx = seen_by(user);
        json_auto_t *ada = doc_user(&ctx, "ada", &kit.ledger.err);
        assert_no_secrets(ada);
        assert_whole(ada, "user.tests_submitted", 1);
        assert_int_equal(json_array_size(at(ada, "tests")), 1);
        assert_int_equal(json_array_size(at(ada, "machines.items")), 2);
        assert_lacks(ada, "\"home\"");
    }
}

static void an_account_shows_its_own_email_and_the_names_of_its_tokens(void **state) {
    (void)state;
    DocContext ctx = seen_by(KIT_AUTHOR);
    json_auto_t *account = doc_account(&ctx);
    assert_text(account, "user.email", "ada@secret");
    assert_text(json_array_get(at(account, "tokens"), 0), "name", "home");
    assert_lacks(account, "secret-");
    ctx = seen_by(KIT_MAINTAINER);
    json_auto_t *other = doc_account(&ctx);
    assert_text(other, "user.email", "ben@secret");
    assert_int_equal(json_array_size(at(other, "tokens")), 0);
}

static void the_list_for_admins_has_no_passwords(void **state) {
    (void)state;
    DocContext ctx = seen_by(KIT_MAINTAINER);
    json_auto_t *users = doc_users(&ctx);
    assert_int_equal(json_array_size(at(users, "items")), 4);
    assert_lacks(users, "secret-");
}

static bool form_has(const json_t *fields, const char *name) {
    const char *part;
    json_t *list, *field;
    size_t i;
    json_object_foreach ((json_t *)fields, part, list)
        json_array_foreach (list, i, field)
            if (strcmp(member_text(field, "name"), name) == 0)
                return true;
    return false;
}

static void the_form_has_every_field_that_a_submission_may_have(void **state) {
    (void)state;
    // The engine and the preset are chosen by links, and "games" is "pairs_max" for people.
    static const char *const others[] = {"engine", "preset", "pairs_max"};
    Error err;
    DocContext ctx = seen_by(KIT_AUTHOR);
    json_auto_t *form = doc_form(&ctx, NULL, &err);
    assert_non_null(form);
    page_new_fields(form);
    const FieldRule *rule;
    for (int n = 0; (rule = submit_rule_at(n)); n++) {
        bool wanted = true;
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            wanted &= strcmp(rule->name, others[i]) != 0;
        if (form_has(json_object_get(form, "fields"), rule->name) != wanted)
            fail_msg("%s: is it in form_fields of server/pages/page_new.c?", rule->name);
    }
}

static void a_missing_object_is_named(void **state) {
    (void)state;
    Error *err = &kit.ledger.err;
    DocContext ctx = seen_by(KIT_NOBODY);
    assert_null(doc_test(&ctx, 99, err));
    assert_string_equal(err->code, "no_such_test");
    assert_null(doc_machine(&ctx, 99, err));
    assert_string_equal(err->code, "no_such_machine");
    assert_null(doc_user(&ctx, "nemo", err));
    assert_string_equal(err->code, "no_such_user");
    assert_int_equal(err->status, 404);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(a_running_test_shows_the_counts_of_the_ledger),
        CASE(a_running_test_names_the_machines_that_played),
        CASE(a_pending_test_has_no_results_and_no_rate),
        CASE(a_finished_test_shows_its_verdict),
        CASE(visitors_see_a_test_and_may_do_nothing_to_it),
        CASE(the_author_may_stop_a_test_and_not_approve_it),
        CASE(a_maintainer_may_approve_a_test_and_stop_it),
        CASE(only_actions_depend_on_the_viewer_of_a_test),
        CASE(a_list_has_the_tests_of_one_state),
        CASE(finished_tests_are_listed_by_author_and_color),
        CASE(the_home_page_has_every_open_test_in_its_list),
        CASE(lists_of_events_and_machines_hold_no_secrets),
        CASE(a_machine_shows_its_tasks_and_not_its_address),
        CASE(a_blocked_machine_may_be_unblocked_by_a_maintainer),
        CASE(a_user_is_shown_without_email_password_and_tokens),
        CASE(an_account_shows_its_own_email_and_the_names_of_its_tokens),
        CASE(the_list_for_admins_has_no_passwords),
        CASE(the_form_has_every_field_that_a_submission_may_have),
        CASE(a_missing_object_is_named),
    };
    return cmocka_run_group_tests_name("documents", tests, NULL, NULL);
}

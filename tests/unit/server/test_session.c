// Whose request it is and what it may call: sessions, tokens, roles and the access of routes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/accounts/session.h"
#include "server/accounts/users.h"
#include "server/common/file.h"
#include "server/common/str.h"
#include "server/db/settings.h"
#include "server/http/access.h"
#include "sql/users.h"

static char folder[64];
static Turn turn;
static Error err;
static int64_t anna;

static int open_fresh(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_session.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    char *path scope(free_ptr) = xasprintf("%s/test.db", folder);
    turn = (Turn){.db = db_open(path, false, &err), .now = 100000};
    anna = turn.db ? user_create(turn.db, "anna", "", "x", "active", true, 1, &err) : 0;
    return anna ? 0 : -1;
}

static int close_and_remove(void **state) {
    (void)state;
    db_close(turn.db);
    turn_release(&turn);
    return folder_remove(folder, &err) ? 0 : -1;
}

static NewSession begin(void) {
    NewSession session;
    assert_true(session_start(&turn, anna, "192.0.2.1", &session, &err));
    return session;
}

static bool is_known(const char *secret, Viewer *viewer) {
    *viewer = (Viewer){0};
    return session_viewer(&turn, secret, strlen(secret), viewer);
}

static void add_token(const char *token, const char *scope_name) {
    char hash[SHA256_HEX_MAX];
    sha256_hex(token, strlen(token), hash);
    assert_true(sql_token_add(turn.db, &err, .user = anna, .token_hash = hash, .scope = scope_name,
                              .name = "t", .created = 1.0));
}

static void a_session_stands_for_its_user_until_it_ends(void **state) {
    (void)state;
    Viewer viewer;
    NewSession session = begin();
    assert_true(is_known(session.secret, &viewer));
    assert_true(viewer.user_id == anna && viewer.admin && viewer.by_cookie);
    assert_string_equal(viewer.csrf, session.csrf);
    assert_false(is_known("another secret", &viewer));
    assert_true(is_known(session.secret, &viewer));
    assert_true(session_end(&turn, viewer.session_hash, &err));
    assert_false(is_known(session.secret, &viewer));
}

static void a_session_ends_after_its_time_or_with_its_account(void **state) {
    (void)state;
    Viewer viewer;
    NewSession session = begin();
    turn.now += SESSION_SECONDS - 1;
    assert_true(is_known(session.secret, &viewer));
    turn.now += 2;
    assert_false(is_known(session.secret, &viewer));
    session = begin();
    assert_true(user_set_state(turn.db, anna, "blocked", &err));
    assert_false(is_known(session.secret, &viewer));
}

static void a_token_has_its_scope_and_its_use_is_noted_once_an_hour(void **state) {
    (void)state;
    Viewer viewer = {0};
    add_token("submit token", "submit");
    assert_true(user_token_viewer(&turn, "submit token", &viewer));
    assert_string_equal(viewer.scope, "submit");
    assert_false(viewer.admin); // although the account is
    assert_int_equal(turn.token_count, 1);
    assert_true(sql_token_used(turn.db, &err, .token = turn.tokens_used[0], .now = turn.now));
    assert_true(user_token_viewer(&turn, "submit token", &viewer));
    assert_int_equal(turn.token_count, 1);
    turn.now += 3601;
    assert_true(user_token_viewer(&turn, "submit token", &viewer));
    assert_int_equal(turn.token_count, 2);
    assert_false(user_token_viewer(&turn, "no token", &viewer));
}

static void may(const char *name, const Viewer *viewer, const int expected[6]) {
    for (Access access = ACCESS_ANYONE; access <= ACCESS_WORKER_ENDS; access++) {
        err = (Error){0};
        bool good = access_check(viewer, access, &err);
        if (good != !expected[access] || (!good && err.status != expected[access]))
            fail_msg("%s, access %d: %d instead of %d", name, (int)access, err.status,
                     expected[access]);
    }
}

// In the order of Access: anyone, user, person, admin, worker, worker_ends; 0: may.
static void each_viewer_may_call_its_routes_and_no_others(void **state) {
    (void)state;
    may("a visitor", &(Viewer){0}, (int[]){0, 401, 401, 401, 401, 401});
    may("a user", &(Viewer){.user_id = 1}, (int[]){0, 0, 0, 403, 401, 401});
    may("an admin", &(Viewer){.user_id = 1, .admin = true}, (int[]){0, 0, 0, 0, 401, 401});
    may("a submit token", &(Viewer){.user_id = 1, .scope = "submit"},
        (int[]){0, 0, 403, 403, 401, 401});
    may("a worker token", &(Viewer){.user_id = 1, .scope = "worker"},
        (int[]){0, 401, 401, 401, 401, 401});
    may("a machine", &(Viewer){.worker_id = 1}, (int[]){0, 401, 401, 401, 0, 0});
    may("a barred machine", &(Viewer){.worker_id = 1, .barred = "owner"},
        (int[]){0, 401, 401, 401, 403, 0});
}

static void who_may_submit_is_a_setting(void **state) {
    (void)state;
    int64_t bert = user_create(turn.db, "bert", "", "x", "active", false, 1, &err);
    Viewer viewer = {.user_id = bert}, visitor = {0};
    assert_false(viewer_submits(turn.db, &viewer, 0));
    assert_true(setting_write(turn.db, SETTING_SUBMIT, "open", &err));
    assert_true(viewer_submits(turn.db, &viewer, 0));
    assert_false(viewer_submits(turn.db, &visitor, 0));
    assert_false(viewer_has_role(turn.db, &viewer, 0, "maintainer"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fresh, close_and_remove)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_session_stands_for_its_user_until_it_ends),
        TEST(a_session_ends_after_its_time_or_with_its_account),
        TEST(a_token_has_its_scope_and_its_use_is_noted_once_an_hour),
        TEST(each_viewer_may_call_its_routes_and_no_others),
        TEST(who_may_submit_is_a_setting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Merging a test, and what becomes of its approval when the baseline has moved and it is tested
// again, without a server.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/submit/fields.h"
#include "server/submit/modify.h"
#include "tests/kit/merge_kit.h"

static void a_merge_moves_the_branch_and_later_tests_are_offered_again(void **state) {
    SubmitKit *kit = *state;
    kit_test_everything(kit);
    int64_t second = kit_approved(kit, "{\"title\": \"One\", \"elo1\": 3}",
                                  SUBMIT_KIT_ADDS("one.c", "int one;"));
    assert_int_equal(kit_merge(kit, 1), 0);
    char *baseline scope(free_ptr) = kit_text(&kit->ledger, "SELECT baseline FROM engines");
    assert_string_equal(baseline, kit->patched);
    int64_t again = kit_merge(kit, second);
    assert_true(again > second);
    assert_column(
        kit, again,
        "(SELECT sha = (SELECT baseline FROM engines) FROM sides WHERE test_id = tests.id "
        "AND side = 'base')",
        "1");
    assert_column(kit, again, "title || (parameters ->> '$.elo1') || author_id || state",
                  "One3.01active");
}

// An approval covers what the server moves to a new baseline, if it is still what was approved.
static void the_approval_is_kept_where_each_line_is_the_same(void **state) {
    SubmitKit *kit = *state;
    kit_test_everything(kit);
    int64_t test = kit_approved(kit, "{\"title\": \"One\"}", SUBMIT_KIT_ADDS("one.c", "int one;"));
    kit_merge(kit, 1);
    int64_t again = kit_merge(kit, test);
    assert_column(kit, again, "state || approved_by || ' ' || retest_of", "active2 2");
    assert_event(kit, again, "approved", "the approval of test 2 is kept");
}

static void whatever_differs_must_be_approved_again(void **state) {
    static const struct {
        const char *patch, *meanwhile, *why;
    } cases[] = {
        {SUBMIT_KIT_ADDS("x.mk", "all:"), "SELECT 1", "x.mk decides how the engine is built"},
        {SUBMIT_KIT_ADDS("two.c", "int two;"), "DELETE FROM roles WHERE user_id = 2",
         "no longer holds"},
        {SUBMIT_KIT_ADDS("three.c", "int b;"),
         "UPDATE engines SET build = '{\"command\": \"other\"}'", "no longer holds"},
        {SUBMIT_KIT_ADDS("four.c", "int c;"), "UPDATE users SET state = 'blocked' WHERE id = 2",
         "no longer holds"},
        {SUBMIT_KIT_ADDS("five.c", "int d;"), "UPDATE sides SET tc = '9+0.09'", "no longer holds"},
        {SUBMIT_KIT_ADDS("six.c", "int e;"), "UPDATE tests SET approved_by = NULL",
         "no longer holds"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SubmitKit *kit = *state;
        int64_t test = kit_approved(kit, "{\"title\": \"One\"}", cases[i].patch);
        kit_merge(kit, 1);
        kit_sql(&kit->ledger, "INSERT INTO roles VALUES (4, 1, 'maintainer')"); // who merges
        kit_sql(&kit->ledger, "%s", cases[i].meanwhile);
        int64_t again = kit_merge_as(kit, KIT_DEVELOPER, test).retest;
        assert_column(kit, again, "state", "pending");
        assert_event(kit, again, "rebased", cases[i].why);
        submit_kit_tear_down(state);
        assert_int_equal(submit_kit_set_up(state), 0);
    }
}

// The operator changed the recipe, and no maintainer has seen it: no change of a title, or to fewer
// games, lets the approval cover it.
static void an_author_does_not_renew_an_approval(void **state) {
    SubmitKit *kit = *state;
    kit_test_everything(kit);
    int64_t test = kit_approved(kit, "{\"title\": \"One\"}", SUBMIT_KIT_ADDS("one.c", "int one;"));
    kit_sql(&kit->ledger, "UPDATE engines SET build = '{\"command\": \"other\"}'");
    json_auto_t *fewer = json_pack("{s:s, s:i}", "title", "Two", "priority", -1);
    const Caller *author = submit_kit_as(kit, KIT_AUTHOR);
    assert_true(submit_modify(author, test, submit_fields_of_json(fewer, &kit->ledger.err),
                              &kit->ledger.err));
    assert_column(kit, test, "state || priority", "active-1");
    kit_merge(kit, 1);
    int64_t again = kit_merge(kit, test);
    assert_column(kit, again, "state", "pending");
    assert_event(kit, again, "rebased", "no longer holds");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, submit_kit_set_up, submit_kit_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_merge_moves_the_branch_and_later_tests_are_offered_again),
        TEST(the_approval_is_kept_where_each_line_is_the_same),
        TEST(whatever_differs_must_be_approved_again),
        TEST(an_author_does_not_renew_an_approval),
    };
    return cmocka_run_group_tests_name("submit_merge", tests, NULL, NULL);
}

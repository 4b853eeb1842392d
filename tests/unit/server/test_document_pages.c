// The pages of a list of finished tests, where a filter leaves out most of them, and what a test
// would be without some of its owners.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/common/json_member.h"
#include "server/ledger/ledger.h"
#include "server/pages/doc.h"
#include "tests/kit/submit_kit.h"

static SubmitKit kit;

static int set_up(void **state) {
    (void)state;
    return submit_kit_open(&kit) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    submit_kit_close(&kit);
    return 0;
}

// Adds finished tests 2 to `last`, each like test 1 and one second newer than the one before. Only
// every seventh is accepted, and so green.
static void add_finished(int last) {
    kit_sql(&kit.ledger, "CREATE TABLE one AS SELECT * FROM tests WHERE id = 1");
    for (int id = 2; id <= last; id++) {
        kit_sql(&kit.ledger, "UPDATE one SET id = %d, finished = finished + 1, result = '%s'", id,
                id % 7 ? "rejected" : "accepted");
        kit_sql(&kit.ledger, "INSERT INTO tests SELECT * FROM one");
        kit_sql(&kit.ledger,
                "INSERT INTO sides (test_id, side, engine_id, sha, tc, threads, margin_ms) "
                "SELECT %d, side, engine_id, sha, tc, threads, margin_ms FROM sides "
                "WHERE test_id = 1",
                id);
    }
}

static void the_pages_of_a_filtered_list_have_each_test_once(void **state) {
    (void)state;
    assert_true(ledger_test_finish(&kit.ledger.turn, 1, 0, "rejected", "rejected", "LLR -2.95",
                                   &kit.ledger.err));
    add_finished(42);
    char before[80] = "";
    int64_t expected = 42;
    for (bool more = true; more;) {
        Params query = {0};
        DocContext ctx = {.db = kit.ledger.db,
                          .now = kit.ledger.turn.now,
                          .viewer = &kit.viewer,
                          .data = kit.ledger.folder};
        params_add(&query, "color", 5, "green", 5);
        params_add(&query, "limit", 5, "4", 1);
        params_add(&query, "before", 6, before, strlen(before));
        ctx.query = &query;
        json_auto_t *page = doc_tests(&ctx, &kit.ledger.err);
        params_release(&query);
        json_t *test;
        size_t i;
        json_array_foreach (json_object_get(page, "items"), i, test) {
            assert_int_equal(member_int(test, "id"), expected);
            expected -= 7;
        }
        snprintf(before, sizeof before, "%s", member_text(page, "next"));
        more = *before;
        assert_int_equal(i, more ? 4 : 2);
    }
    assert_int_equal(expected, 0);
}

static const json_t *without(const json_t *test, const char *who) {
    return json_object_get(json_object_get(test, "without"), who);
}

static json_t *test_one(void) {
    Error err;
    DocContext ctx = {.db = kit.ledger.db,
                      .now = kit.ledger.turn.now,
                      .viewer = &kit.viewer,
                      .data = kit.ledger.folder};
    json_t *test = doc_test(&ctx, 1, &err);
    assert_non_null(test);
    return test;
}

// Machines 1 and 2 are those of ada, the author; 3 is that of ben.
static void the_result_is_told_without_the_largest_owner_and_without_the_author(void **state) {
    (void)state;
    BatchReply reply;
    kit_sql(&kit.ledger, "INSERT INTO settings VALUES ('task_seconds', '155')");
    kit_activate(&kit.ledger, 1);
    int64_t mine = kit_claim(&kit.ledger, 1, 4, 0), other = kit_claim(&kit.ledger, 3, 4, 0);
    assert_true(kit_post(&kit.ledger, mine, 1, 0, "3333", &reply));
    json_auto_t *alone = test_one();
    assert_true(json_is_null(without(alone, "largest")));
    assert_true(json_is_null(without(alone, "author")));
    assert_true(ledger_release(&kit.ledger.turn, mine, 1, 4, &kit.ledger.err));
    assert_true(kit_post(&kit.ledger, other, 3, 0, "0112", &reply));
    assert_true(kit_post(&kit.ledger, other, 3, 1, "0122", &reply));
    json_auto_t *both = test_one();
    const json_t *largest = without(both, "largest"), *author = without(both, "author");
    assert_string_equal(member_text(largest, "user"), "ben");
    assert_int_equal(member_int(largest, "units"), 8);
    assert_string_equal(member_text(author, "user"), "ada");
    assert_int_equal(member_int(author, "units"), 4);
    double all = member_real(json_object_get(both, "stats"), "llr");
    assert_true(member_real(json_object_get(largest, "points"), "llr") > all);
    assert_true(member_real(json_object_get(author, "points"), "llr") < all);
    assert_non_null(strstr(member_text(largest, "text"), "without the correction for overshoot"));
    assert_int_equal(kit_check(&kit.ledger), 0);
}

static void a_test_that_proven_owners_decided_alone_is_named(void **state) {
    (void)state;
    DocContext ctx = {.db = kit.ledger.db,
                      .now = kit.ledger.turn.now,
                      .viewer = &kit.viewer,
                      .data = kit.ledger.folder};
    assert_true(ledger_test_finish(&kit.ledger.turn, 1, 0, "rejected", "rejected", "LLR -2.95",
                                   &kit.ledger.err));
    json_auto_t *none = doc_suspects(&ctx);
    assert_int_equal(json_array_size(json_object_get(none, "vetoed")), 0);
    kit_sql(&kit.ledger, "UPDATE tests SET counts = '{\"proven\":{\"decides\":true}}'");
    json_auto_t *one = doc_suspects(&ctx);
    const json_t *vetoed = json_object_get(one, "vetoed");
    assert_int_equal(member_int(json_array_get(vetoed, 0), "id"), 1);
    ctx.now += 31 * 86400.0;
    json_auto_t *later = doc_suspects(&ctx);
    assert_int_equal(json_array_size(json_object_get(later, "vetoed")), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_pages_of_a_filtered_list_have_each_test_once, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_test_that_proven_owners_decided_alone_is_named, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            the_result_is_told_without_the_largest_owner_and_without_the_author, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("document_pages", tests, NULL, NULL);
}

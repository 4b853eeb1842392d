// The pages of a list of finished tests, where a filter leaves out most of them.
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_pages_of_a_filtered_list_have_each_test_once, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("document_pages", tests, NULL, NULL);
}

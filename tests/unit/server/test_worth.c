// The expected worth in the document of a test: which results make the prior, and when there is
// none.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "server/common/json_member.h"
#include "server/pages/doc.h"
#include "sprt/sprt.h"
#include "sprt/worth.h"
#include "tests/kit/ledger_kit.h"

#define NORMALIZED                                                                                 \
    "{\"alpha\":0.05,\"beta\":0.05,\"elo0\":0.0,\"elo1\":2.0,\"model\":\"normalized\"}"

static LedgerKit kit;
static Cache *cache; // NULL: documents are made anew

static int set_up(void **state) {
    (void)state;
    return kit_open(&kit) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    kit_close(&kit);
    return 0;
}

// Counts of a test of 1,000 pairs.
static void counts_of(int balance, double counts[5]) {
    const double n[5] = {5, 235.0 - balance, 520, 235.0 + balance, 5};
    memcpy(counts, n, sizeof n);
}

// A test that ended with this result, of a tree of its own. Further columns can be changed.
static void add_finished(int id, int balance, const char *result, const char *parameters) {
    double n[5];
    counts_of(balance, n);
    kit_sql(&kit,
            "INSERT INTO commits (engine_id, sha, snapshot, subject, author, created) "
            "VALUES (1, format('%%040d', %d), format('%%064d', %d), 's', 'ada', 1)",
            id, id);
    kit_sql(&kit,
            "INSERT INTO tests (id, engine_id, author_id, title, created, workload, parameters, "
            "book_id, seed, variant, adjudication, batch_pairs, pairs_max, state, approved_hash, "
            "result, finished, units_counted, counts) VALUES (%d, 1, 1, 't', 1, 'sprt', '%s', 1, "
            "42, 'standard', '{}', 4, 400000, 'finished', 'x', '%s', %d, 1000, "
            "'{\"v\":1,\"ptnml\":[%g,%g,%g,%g,%g]}')",
            id, parameters, result, id, n[0], n[1], n[2], n[3], n[4]);
    kit_sql(&kit,
            "INSERT INTO sides (test_id, side, engine_id, sha, tc, threads, margin_ms) VALUES "
            "(%d, 'new', 1, format('%%040d', %d), '10+0.1', 1, 200), "
            "(%d, 'base', 1, '1111111111111111111111111111111111111111', '10+0.1', 1, 200)",
            id, id, id);
    kit_sql(&kit,
            "INSERT INTO ideas (test_id, engine_id, base_tree, tree, missing) VALUES (%d, 1, "
            "'base', 'tree %d', '')",
            id, id);
}

static int balance_at(int i) {
    return i * 37 % 101 - 70;
}

// Tests 2 to `count` + 1: the results of patches that are worth less than nothing on average.
static void add_first_tests(int count) {
    for (int i = 0; i < count; i++)
        add_finished(2 + i, balance_at(i), balance_at(i) > 0 ? "accepted" : "rejected", NORMALIZED);
}

static WorthPrior prior_of(int count) {
    WorthResult results[WORTH_TESTS_MIN * 2];
    for (int i = 0; i < count; i++) {
        double counts[5];
        counts_of(balance_at(i), counts);
        assert_true(worth_result(counts, &results[i]));
    }
    return worth_prior(results, count);
}

static json_t *worth_of(int64_t test) {
    Viewer viewer = {0};
    DocContext ctx = {
        .db = kit.db, .now = kit.turn.now, .viewer = &viewer, .data = kit.folder, .cache = cache};
    Error err;
    json_auto_t *document = doc_test(&ctx, test, &err);
    if (!document)
        fail_msg("%s", err.message);
    json_t *worth = json_object_get(document, "worth");
    assert_non_null(worth);
    return json_incref(worth);
}

static int prior_tests(int64_t test) {
    json_auto_t *worth = worth_of(test);
    return (int)member_int(json_object_get(worth, "prior"), "tests");
}

static void assert_near(double found, double wanted) {
    if (!(fabs(found - wanted) < 1e-9))
        fail_msg("%.12g, should be %.12g", found, wanted);
}

static void assert_says(int64_t test, const char *words) {
    json_auto_t *worth = worth_of(test);
    if (!strstr(member_text(worth, "text"), words))
        fail_msg("\"%s\" lacks \"%s\"", member_text(worth, "text"), words);
}

static void assert_unknown(int64_t test, const char *words) {
    json_auto_t *worth = worth_of(test);
    assert_true(json_is_false(json_object_get(worth, "known")));
    assert_true(json_is_null(json_object_get(worth, "elo")));
    assert_says(test, words);
}

static void the_worth_is_the_mean_under_the_prior_of_first_tests(void **state) {
    (void)state;
    enum { COUNT = 120, TEST = 2 + 117 };
    add_first_tests(COUNT);
    json_auto_t *worth = worth_of(TEST);
    WorthPrior prior = prior_of(COUNT);
    double counts[5];
    WorthResult result;
    counts_of(balance_at(TEST - 2), counts);
    assert_true(worth_result(counts, &result));
    Worth nelo = worth_expected(&prior, &result), elo = worth_in_elo(&nelo, counts);
    assert_true(json_is_true(json_object_get(worth, "known")));
    assert_near(member_real(worth, "nelo"), nelo.mean);
    assert_near(member_real(worth, "elo"), elo.mean);
    assert_near(member_real(worth, "low"), elo.low);
    assert_near(member_real(worth, "high"), elo.high);
    assert_near(member_real(json_object_get(worth, "prior"), "mean"), prior.mean);
    assert_near(member_real(json_object_get(worth, "prior"), "spread"), prior.spread);
    assert_true(prior.mean < -5 && prior.spread > 5);
    assert_true(elo.mean < elo_estimate(counts, 5).elo);
    assert_says(
        TEST, "given its games and 120 finished first tests of this engine by <0.00, 2.00>, whose");
}

static void fewer_than_100_finished_tests_make_no_prior(void **state) {
    (void)state;
    add_first_tests(99);
    assert_unknown(5, "it needs 100 finished first tests of this engine by <0.00, 2.00>, and there "
                      "are 99.");
    add_finished(101, 3, "undecided", NORMALIZED);
    assert_says(5, "100 finished first tests of this engine by <0.00, 2.00>, whose");
}

static void tests_by_other_bounds_and_failed_tests_are_not_asked(void **state) {
    (void)state;
    add_first_tests(3);
    add_finished(5, 3, "accepted",
                 "{\"alpha\":0.05,\"beta\":0.05,\"elo0\":0.0,\"elo1\":2.0,\"model\":\"logistic\"}");
    add_finished(
        6, 3, "accepted",
        "{\"alpha\":0.05,\"beta\":0.05,\"elo0\":0.5,\"elo1\":2.0,\"model\":\"normalized\"}");
    add_finished(
        7, 3, "accepted",
        "{\"alpha\":0.05,\"beta\":0.05,\"elo0\":0.0,\"elo1\":2.5,\"model\":\"normalized\"}");
    add_finished(8, 3, "failed", NORMALIZED);
    assert_int_equal(prior_tests(2), 3);
    assert_int_equal(prior_tests(5), 1);
    assert_int_equal(prior_tests(7), 1);
}

// How errors of a decision are weighed says nothing about what patches are worth. A person who
// stops a test sees its results and nothing more.
static void other_error_rates_and_stopped_tests_are_asked(void **state) {
    (void)state;
    add_first_tests(3);
    add_finished(
        5, 3, "accepted",
        "{\"alpha\":0.01,\"beta\":0.1,\"elo0\":0.0,\"elo1\":2.0,\"model\":\"normalized\"}");
    add_finished(6, 3, "stopped", NORMALIZED);
    assert_int_equal(prior_tests(2), 5);
}

static void retests_and_second_tests_of_a_tree_are_not_asked(void **state) {
    (void)state;
    add_first_tests(120);
    kit_sql(&kit, "UPDATE tests SET retest_of = 2 WHERE id = 7");
    kit_sql(&kit,
            "UPDATE ideas SET tree = (SELECT tree FROM ideas WHERE test_id = 3) WHERE test_id = 9");
    assert_int_equal(prior_tests(2), 118);
    assert_unknown(7, "not the first test of its tree");
    assert_unknown(9, "not the first test of its tree");
    json_auto_t *first = worth_of(3);
    assert_true(json_is_true(json_object_get(first, "known")));
}

// A test that ended without a game says nothing of its tree.
static void an_earlier_test_without_results_leaves_the_next_one_first(void **state) {
    (void)state;
    add_first_tests(120);
    kit_sql(&kit,
            "UPDATE ideas SET tree = (SELECT tree FROM ideas WHERE test_id = 3) WHERE test_id = 9");
    kit_sql(&kit, "UPDATE tests SET units_counted = 0, counts = '{}' WHERE id = 3");
    assert_int_equal(prior_tests(9), 119);
    json_auto_t *next = worth_of(9);
    assert_true(json_is_true(json_object_get(next, "known")));
}

static void tests_of_other_engines_and_open_ones_are_not_asked(void **state) {
    (void)state;
    add_first_tests(6);
    kit_sql(&kit, "INSERT INTO engines (id, name, title, baseline, build, reference_commit, "
                  "reference_speed, created) SELECT 2, 'other', 'Other', baseline, build, "
                  "reference_commit, reference_speed, created FROM engines WHERE id = 1");
    kit_sql(&kit, "UPDATE tests SET engine_id = 2 WHERE id = 3");
    kit_sql(&kit, "UPDATE ideas SET engine_id = 2, tree = 'tree 2' WHERE test_id = 3");
    kit_sql(&kit, "UPDATE tests SET state = 'active', result = NULL, finished = NULL WHERE id = 4");
    assert_int_equal(prior_tests(2), 4);
    assert_int_equal(prior_tests(3), 1);
}

static void a_test_with_few_pairs_waits_for_more(void **state) {
    (void)state;
    add_first_tests(120);
    kit_sql(&kit,
            "UPDATE tests SET units_counted = 96, counts = '{\"v\":1,\"ptnml\":[2,20,50,22,2]}' "
            "WHERE id = 4");
    assert_unknown(4, "it needs 100 pairs");
    assert_int_equal(prior_tests(4), 119);
}

static void equal_results_say_that_patches_are_alike(void **state) {
    (void)state;
    for (int i = 0; i < 100; i++)
        add_finished(2 + i, -10, "rejected", NORMALIZED);
    add_finished(102, 12, "accepted", NORMALIZED);
    json_auto_t *worth = worth_of(102);
    assert_near(member_real(worth, "nelo_low"), member_real(worth, "nelo"));
    assert_says(102, "this patch is taken for one like the others");
}

static void a_prior_is_kept_until_the_next_event(void **state) {
    (void)state;
    add_first_tests(5);
    cache = cache_new(1 << 20);
    assert_int_equal(prior_tests(2), 5);
    add_finished(7, 3, "accepted", NORMALIZED);
    assert_int_equal(prior_tests(2), 5);
    kit_sql(&kit, "INSERT INTO events (created, type, test_id, message, last) "
                  "VALUES (1, 'accepted', 7, '', 1)");
    assert_int_equal(prior_tests(2), 6);
    cache_free(cache);
    cache = NULL;
}

static void a_test_without_results_or_bounds_has_no_worth(void **state) {
    (void)state;
    add_first_tests(2);
    json_auto_t *pending = worth_of(1);
    assert_true(json_is_null(pending));
    kit_sql(&kit, "UPDATE tests SET workload = 'fixed', parameters = '{}' WHERE id = 2");
    json_auto_t *fixed = worth_of(2);
    assert_true(json_is_null(fixed));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_worth_is_the_mean_under_the_prior_of_first_tests,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(fewer_than_100_finished_tests_make_no_prior, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(tests_by_other_bounds_and_failed_tests_are_not_asked,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_error_rates_and_stopped_tests_are_asked, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(retests_and_second_tests_of_a_tree_are_not_asked, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_earlier_test_without_results_leaves_the_next_one_first,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(tests_of_other_engines_and_open_ones_are_not_asked, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_test_with_few_pairs_waits_for_more, set_up, tear_down),
        cmocka_unit_test_setup_teardown(equal_results_say_that_patches_are_alike, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_prior_is_kept_until_the_next_event, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_test_without_results_or_bounds_has_no_worth, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

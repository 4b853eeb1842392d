// What people read of a test's results: the block that they paste, the colours, the document.
// Golden values: fishtest.md 4.9, and a test as it was published.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "server/common/file.h"
#include "server/common/json_member.h"
#include "server/common/str.h"
#include "server/ledger/count.h"
#include "server/ledger/state.h"
#include "server/pages/statistics.h"

// A row of `tests`. `llr` is of an SPRT of <0, 2>.
static json_t *test_row(const char *workload, const char *state, const char *result,
                        const int ptnml[5], int wins, int losses, int draws, double llr) {
    int pairs = ptnml[0] + ptnml[1] + ptnml[2] + ptnml[3] + ptnml[4];
    char *counts scope(free_ptr) =
        xasprintf("{\"ptnml\":[%d,%d,%d,%d,%d],\"wins\":%d,\"losses\":%d,\"draws\":%d,\"sprt\":{"
                  "\"llr\":%.17g},"
                  "\"v\":1}",
                  ptnml[0], ptnml[1], ptnml[2], ptnml[3], ptnml[4], wins, losses, draws, llr);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:i}", "workload", workload, "parameters",
                     "{\"alpha\":0.05,\"beta\":0.05,\"elo0\":0.0,\"elo1\":2.0,"
                     "\"model\":\"normalized\"}",
                     "state", state, "result", result, "counts", counts, "units_counted", pairs,
                     "batch_pairs", 16, "pairs_max", 400000);
}

static json_t *published(void) {
    static const int ptnml[] = {105, 4097, 9338, 4364, 112};
    return test_row("sprt", "finished", "accepted", ptnml, 9347, 9062, 17623, 2.95);
}

// Sets a member of `parameters` or `counts` of a row.
static void set_inside(json_t *row, const char *column, const char *name, json_t *value) {
    json_auto_t *object = json_loads(member_text(row, column), 0, NULL);
    json_object_set_new(object, name, value);
    char *text scope(free_ptr) = count_text(object);
    json_object_set_new(row, column, json_string(text));
}

static double real_at(const json_t *doc, const char *outer, const char *inner) {
    const json_t *value = json_object_get(doc, outer);
    if (inner)
        value = json_object_get(value, inner);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static bool near(double a, double b, double tolerance) {
    return fabs(a - b) <= tolerance;
}

static void states_are_those_of_the_schema(void **state) {
    (void)state;
    Error err;
    char *schema scope(free_ptr) = file_read("sql/schema.sql", 1 << 20, NULL, &err), quoted[40];
    assert_non_null(schema);
    const char *tests = strstr(schema, "CREATE TABLE tests"),
               *tasks = strstr(schema, "CREATE TABLE tasks");
    for (int i = 0; i < TEST_STATE_COUNT; i++) {
        snprintf(quoted, sizeof quoted, "'%s'", test_state_name((TestState)i));
        assert_non_null(strstr(strstr(tests, "CHECK (state IN"), quoted));
        assert_int_equal(test_state_of(test_state_name((TestState)i)), i);
    }
    for (int i = 0; i < TASK_STATE_COUNT; i++) {
        snprintf(quoted, sizeof quoted, "'%s'", task_state_name((TaskState)i));
        assert_non_null(strstr(strstr(tasks, "CHECK (state IN"), quoted));
        assert_int_equal(task_state_of(task_state_name((TaskState)i)), i);
    }
}

static char *text_of(const json_t *test) {
    json_auto_t *doc = statistics_document(test, 0);
    return xstrdup(member_text(doc, "text"));
}

static void the_text_has_fishtests_form(void **state) {
    (void)state;
    json_auto_t *test = published();
    char *normalized scope(free_ptr) = text_of(test);
    assert_string_equal(normalized, "LLR: 2.95 (-2.94,2.94) <0.00,2.00>\n"
                                    "Total: 36032 W: 9347 L: 9062 D: 17623\n"
                                    "Ptnml(0-2): 105, 4097, 9338, 4364, 112\n");
    set_inside(test, "parameters", "model", json_string("logistic"));
    char *logistic scope(free_ptr) = text_of(test);
    assert_non_null(strstr(logistic, "{0.00,2.00}"));
    json_object_set_new(test, "workload", json_string("fixed"));
    char *fixed scope(free_ptr) = text_of(test);
    assert_string_equal(fixed, "Total: 36032 W: 9347 L: 9062 D: 17623\n"
                               "Ptnml(0-2): 105, 4097, 9338, 4364, 112\n");
}

static void assert_color(const json_t *test, const char *color) {
    json_auto_t *doc = statistics_document(test, 0);
    assert_string_equal(member_text(doc, "color"), color);
}

// The state of the SPRT of a row. Each excess is a ladder of one height, so half of it.
static void set_ladders(json_t *test, int verdict, double llr, double below, double above) {
    static const char *const results[] = {"", "accepted", "rejected"};
    json_object_set_new(test, "result", json_string(results[verdict]));
    set_inside(test, "counts", "sprt",
               json_pack("{s:f, s:i, s:f, s:f, s:f, s:f}", "llr", llr, "verdict", verdict, "m0",
                         -2 * below, "sq0", 4 * below * below, "m1", 2 * above, "sq1",
                         4 * above * above));
}

static void assert_correction(const json_t *test, const char *line) {
    json_auto_t *doc = statistics_document(test, 0);
    const json_t *note = json_object_get(json_object_get(doc, "bounds"), "note");
    const char *second = strchr(member_text(doc, "text"), '\n') + 1;
    if (!line) {
        assert_true(json_is_null(note));
        assert_int_equal(strncmp(second, "Total", 5), 0);
        return;
    }
    assert_int_equal(strncmp(second, line, strlen(line)), 0);
    assert_int_equal(strncmp(second + strlen(line), "\nTotal", 6), 0);
    assert_int_equal(strncmp(json_string_value(note), line, strlen(line)), 0);
    assert_non_null(strstr(json_string_value(note), "steps of whole batches"));
}

static void a_bound_that_overshoot_moved_is_named_with_its_reason(void **state) {
    (void)state;
    json_auto_t *test = published();
    set_ladders(test, 1, 2.75, 0.05, 0.24);
    assert_correction(test, "Accepted above 2.70: 2.94 corrected for overshoot");
    set_ladders(test, 1, 2.95, 0.3, 0.009);
    assert_correction(test, NULL);
    set_ladders(test, 2, -2.6, 0.35, 0.009);
    assert_correction(test, "Rejected below -2.59: -2.94 corrected for overshoot");
    set_ladders(test, 2, -2.95, 0.009, 0.3);
    assert_correction(test, NULL);
    set_ladders(test, 0, 1, 0.009, 0.3);
    assert_correction(test, "Bounds (-2.94,2.64): corrected for overshoot");
    set_ladders(test, 0, 1, 0.009, 0.009);
    assert_correction(test, NULL);
}

static void colours_have_fishtests_meanings(void **state) {
    (void)state;
    json_auto_t *test = published();
    assert_color(test, "green");
    set_inside(test, "parameters", "elo0", json_real(-1.75));
    set_inside(test, "parameters", "elo1", json_real(0.25));
    assert_color(test, "blue");
    json_object_set_new(test, "result", json_string("rejected"));
    assert_color(test, "yellow");
    set_inside(test, "counts", "wins", json_integer(9000));
    assert_color(test, "red");
    json_object_set_new(test, "result", json_string("undecided"));
    assert_color(test, "grey");
    json_object_set_new(test, "result", json_string("stopped"));
    assert_color(test, "");
    json_object_set_new(test, "result", json_null());
    assert_color(test, "");
}

static void a_fixed_test_is_coloured_by_its_los(void **state) {
    (void)state;
    static const int up[] = {500, 5000, 9000, 5300, 560}, even[] = {10, 100, 200, 100, 10},
                     down[] = {560, 5300, 9000, 5000, 500};
    json_auto_t *better = test_row("fixed", "finished", "completed", up, 0, 0, 0, 0);
    json_auto_t *same = test_row("fixed", "finished", "completed", even, 0, 0, 0, 0);
    json_auto_t *worse = test_row("fixed", "finished", "completed", down, 0, 0, 0, 0);
    assert_color(better, "green");
    assert_color(same, "");
    assert_color(worse, "red");
}

static void the_document_has_both_estimates(void **state) {
    (void)state;
    static const int ptnml[] = {39, 2226, 31451, 2412, 40};
    json_auto_t *test = test_row("sprt", "active", "", ptnml, 10000, 9800, 52536, 2.93690982);
    json_auto_t *doc = statistics_document(test, 3600);
    assert_true(near(real_at(doc, "plain", "elo"), 0.90298105, 1e-6));
    assert_true(near(real_at(doc, "plain", "error"), 0.66253149, 1e-6));
    assert_true(near(real_at(doc, "plain", "los"), 0.9962221, 1e-6));
    assert_true(near(real_at(doc, "sequential", "elo"), 0.817408, 1e-5));
    assert_true(near(real_at(doc, "sequential", "low"), 0.125156, 1e-5));
    assert_true(near(real_at(doc, "sequential", "high"), 1.495998, 1e-5));
    assert_true(near(real_at(doc, "pair_ratio", NULL), 2452.0 / 2265, 1e-9));
    assert_true(near(real_at(doc, "bounds", "upper"), 2.94443898, 1e-7));
    assert_true(near(real_at(doc, "bounds", "progress"), 2.93690982 / 2.94443898, 1e-6));
    assert_int_equal(json_array_size(json_object_get(doc, "ptnml")), 5);
    assert_true(real_at(doc, "eta", "pass") > 0.9);
    // Games left at 3600 an hour take a second each.
    assert_true(near(real_at(doc, "eta", "seconds"), real_at(doc, "eta", "games_left"), 1e-6));
}

static void a_test_without_games_has_a_document(void **state) {
    (void)state;
    static const int none[5];
    json_auto_t *test = test_row("sprt", "active", "", none, 0, 0, 0, 0);
    json_auto_t *doc = statistics_document(test, 0);
    assert_true(json_is_null(json_object_get(doc, "plain")));
    assert_true(json_is_null(json_object_get(doc, "sequential")));
    assert_true(json_is_null(json_object_get(json_object_get(doc, "eta"), "seconds")));
    assert_true(real_at(doc, "eta", "games") > 10000);
    assert_true(real_at(doc, "bounds", "progress") == 0);
    char *text = json_dumps(doc, 0);
    assert_non_null(text);
    free_ptr(&text);
}

static void a_finished_test_has_no_eta_and_a_fixed_one_no_llr(void **state) {
    (void)state;
    json_auto_t *done = published();
    json_auto_t *doc = statistics_document(done, 100);
    assert_true(json_is_null(json_object_get(doc, "eta")));
    static const int ptnml[] = {1, 10, 20, 10, 1};
    json_auto_t *fixed = test_row("fixed", "active", "", ptnml, 20, 20, 44, 0);
    json_object_set_new(fixed, "pairs_max", json_integer(142));
    json_auto_t *other = statistics_document(fixed, 100);
    assert_null(json_object_get(other, "llr"));
    assert_null(json_object_get(other, "bounds"));
    assert_null(json_object_get(other, "sequential"));
    assert_true(near(real_at(other, "eta", "games_left"), 200, 0));
    assert_true(near(real_at(other, "eta", "seconds"), 7200, 1e-9));
}

// The server counts it again when it starts (ledger_recount_outdated); until then a page does not
// show numbers of another version.
static void a_test_that_this_server_cannot_read_has_empty_statistics(void **state) {
    (void)state;
    json_auto_t *old = published(), *unknown = published(), *empty = NULL, *other = NULL,
                *wanted = json_pack("{s:s, s:s}", "text", "", "color", "");
    set_inside(old, "counts", "v", json_integer(99));
    empty = statistics_document(old, 0);
    assert_true(json_equal(empty, wanted));
    json_object_set_new(unknown, "workload", json_string("spsa"));
    other = statistics_document(unknown, 0);
    assert_true(json_equal(other, wanted));
}

static void lists_and_panels_are_named_by_the_workload(void **state) {
    (void)state;
    json_auto_t *test = published();
    json_auto_t *doc = statistics_document(test, 0);
    assert_string_equal(member_text(doc, "label"), "SPRT");
    assert_string_equal(member_text(doc, "terms"), "<0.00, 2.00>");
    assert_string_equal(member_text(doc, "summary"), "LLR 2.95 (-2.94, 2.94)");
    assert_string_equal(member_text(doc, "panel"), "workload_sprt");
    assert_int_equal(member_int(doc, "units"), 18016);
    assert_true(near(real_at(doc, "points", "llr"), 2.95, 1e-12));
    set_ladders(test, 1, 2.75, 0.05, 0.24);
    json_auto_t *corrected = statistics_document(test, 0);
    assert_string_equal(member_text(corrected, "summary"), "LLR 2.75 (-2.89, 2.70)");
}

// From the middle of <0,2> with nothing seen but draws and splits, it takes about what the theory
// says of a patch worth 1 nElo, and is as likely to pass as not.
static void the_eta_of_an_even_test_is_that_of_the_theory(void **state) {
    (void)state;
    static const int ptnml[] = {55, 2340, 5200, 2350, 56};
    json_auto_t *test = test_row("sprt", "active", "", ptnml, 5000, 4980, 10022, 0);
    json_auto_t *doc = statistics_document(test, 0);
    double left = real_at(doc, "eta", "games_left");
    assert_true(left > 100000 && left < 270000);
    assert_true(near(real_at(doc, "eta", "pass"), 0.5, 0.02));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_are_those_of_the_schema),
        cmocka_unit_test(the_text_has_fishtests_form),
        cmocka_unit_test(a_bound_that_overshoot_moved_is_named_with_its_reason),
        cmocka_unit_test(colours_have_fishtests_meanings),
        cmocka_unit_test(a_fixed_test_is_coloured_by_its_los),
        cmocka_unit_test(the_document_has_both_estimates),
        cmocka_unit_test(a_test_without_games_has_a_document),
        cmocka_unit_test(a_finished_test_has_no_eta_and_a_fixed_one_no_llr),
        cmocka_unit_test(a_test_that_this_server_cannot_read_has_empty_statistics),
        cmocka_unit_test(lists_and_panels_are_named_by_the_workload),
        cmocka_unit_test(the_eta_of_an_even_test_is_that_of_the_theory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

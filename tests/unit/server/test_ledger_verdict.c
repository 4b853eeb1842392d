// Verdicts: the stop rule's state as text, the block that people paste, the colours, the document.
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
#include "server/common/str.h"
#include "server/ledger/kinds.h"
#include "server/ledger/sprt_state.h"
#include "server/ledger/state.h"
#include "server/pages/test_stats.h"

static const SprtBounds stc = {SPRT_NORMALIZED, 0, 2, 0.05, 0.05};

static json_t *test_row(const char *kind, const char *state, const char *result, const int ptnml[5],
                        int wins, int losses, int draws, double llr) {
    return json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:f, s:s, s:f, s:f, "
                     "s:f, s:f, s:s, s:i}",
                     "kind", kind, "state", state, "result", result, "ptnml0", ptnml[0], "ptnml1",
                     ptnml[1], "ptnml2", ptnml[2], "ptnml3", ptnml[3], "ptnml4", ptnml[4], "wins",
                     wins, "losses", losses, "draws", draws, "llr", llr, "model", "normalized",
                     "elo0", 0.0, "elo1", 2.0, "alpha", 0.05, "beta", 0.05, "sprt_state", "{}",
                     "pairs_max", 400000);
}

static json_t *published(void) {
    static const int ptnml[] = {105, 4097, 9338, 4364, 112};
    return test_row("sprt", "finished", "accepted", ptnml, 9347, 9062, 17623, 2.95);
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

static void the_state_comes_back_exactly(void **state) {
    (void)state;
    char text[VERDICT_STATE_MAX];
    SprtState there = {16,     1.0 / 3, -0.1, -2e-300, 1e17 / 7,     0.1,
                       5e-324, 0.3,     15,   true,    SPRT_REJECTED},
              back;
    verdict_state_write(&there, text);
    assert_true(verdict_state_read(text, &back));
    assert_true(back.pairs == there.pairs && back.llr == there.llr && back.ref0 == there.ref0 &&
                back.m0 == there.m0 && back.sq0 == there.sq0 && back.ref1 == there.ref1 &&
                back.m1 == there.m1 && back.sq1 == there.sq1 && back.skipped == there.skipped &&
                back.uncorrected == there.uncorrected && back.verdict == there.verdict);
    json_auto_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
}

static void a_file_that_is_not_a_state_is_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "[]",
                                      "[1,2]",
                                      "[0,0,0,0,0,0,0,0,0,0,7]",
                                      "null",
                                      "[0,0,0,0,0,0,0,0,0,0,0",
                                      "[0,0,0,0,0,0,0,0,0,0,0,0]"};
    SprtState out;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(verdict_state_read(bad[i], &out));
    assert_true(verdict_state_read("{}", &out));
    assert_true(out.pairs == 0 && out.verdict == SPRT_OPEN);
}

static void a_batch_moves_the_llr_to_its_golden_value(void **state) {
    (void)state;
    SprtState s = {0};
    kinds[KIND_SPRT]->update(&s, &(TestRule){KIND_SPRT, stc, 16, 400000},
                             (const int64_t[]){500, 5000, 9000, 5300, 560});
    assert_true(near(s.llr, 3.37147139, 1e-8));
    assert_int_equal(s.verdict, SPRT_ACCEPTED);
}

static void a_test_of_fixed_length_has_no_llr(void **state) {
    (void)state;
    SprtState s = {0};
    kinds[KIND_FIXED]->update(&s, &(TestRule){KIND_FIXED, stc, 16, 400000},
                              (const int64_t[]){500, 5000, 9000, 5300, 560});
    assert_true(s.llr == 0 && s.verdict == SPRT_OPEN);
}

static void every_kind_is_found_by_its_name(void **state) {
    (void)state;
    char choices[200] = "";
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        assert_int_equal(test_kind_of(kinds[kind]->name), kind);
        size_t size = strlen(choices);
        snprintf(choices + size, sizeof choices - size, "%s%s", size ? "|" : "", kinds[kind]->name);
    }
    assert_string_equal(choices, KIND_CHOICES);
    assert_int_equal(test_kind_of("spsa"), KIND_COUNT);
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

static void the_text_has_fishtests_form(void **state) {
    (void)state;
    json_auto_t *test = published();
    Str text scope(str_release);
    str_init(&text, 1000);
    test_stats_text(test, &text);
    assert_string_equal(text.data, "LLR: 2.95 (-2.94,2.94) <0.00,2.00>\n"
                                   "Total: 36032 W: 9347 L: 9062 D: 17623\n"
                                   "Ptnml(0-2): 105, 4097, 9338, 4364, 112\n");
    json_object_set_new(test, "model", json_string("logistic"));
    str_clear(&text);
    test_stats_text(test, &text);
    assert_non_null(strstr(text.data, "{0.00,2.00}"));
    json_object_set_new(test, "kind", json_string("fixed"));
    str_clear(&text);
    test_stats_text(test, &text);
    assert_null(strstr(text.data, "LLR"));
}

static void colours_have_fishtests_meanings(void **state) {
    (void)state;
    json_auto_t *test = published();
    assert_string_equal(test_stats_color(test), "green");
    json_object_set_new(test, "elo0", json_real(-1.75));
    json_object_set_new(test, "elo1", json_real(0.25));
    assert_string_equal(test_stats_color(test), "blue");
    json_object_set_new(test, "result", json_string("rejected"));
    assert_string_equal(test_stats_color(test), "yellow");
    json_object_set_new(test, "wins", json_integer(9000));
    assert_string_equal(test_stats_color(test), "red");
    json_object_set_new(test, "result", json_string("stopped"));
    assert_string_equal(test_stats_color(test), "");
    json_object_set_new(test, "result", json_null());
    assert_string_equal(test_stats_color(test), "");
}

static void a_fixed_test_is_coloured_by_its_los(void **state) {
    (void)state;
    static const int up[] = {500, 5000, 9000, 5300, 560}, even[] = {10, 100, 200, 100, 10},
                     down[] = {560, 5300, 9000, 5000, 500};
    json_auto_t *better = test_row("fixed", "finished", "completed", up, 0, 0, 0, 0);
    json_auto_t *same = test_row("fixed", "finished", "completed", even, 0, 0, 0, 0);
    json_auto_t *worse = test_row("fixed", "finished", "completed", down, 0, 0, 0, 0);
    assert_string_equal(test_stats_color(better), "green");
    assert_string_equal(test_stats_color(same), "");
    assert_string_equal(test_stats_color(worse), "red");
}

static void the_document_has_both_estimates(void **state) {
    (void)state;
    static const int ptnml[] = {39, 2226, 31451, 2412, 40};
    json_auto_t *test = test_row("sprt", "active", "", ptnml, 10000, 9800, 52536, 2.93690982);
    json_auto_t *doc = test_stats_document(test, 3600);
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
    json_auto_t *doc = test_stats_document(test, 0);
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
    json_auto_t *doc = test_stats_document(done, 100);
    assert_true(json_is_null(json_object_get(doc, "eta")));
    static const int ptnml[] = {1, 10, 20, 10, 1};
    json_auto_t *fixed = test_row("fixed", "active", "", ptnml, 20, 20, 44, 0);
    json_object_set_new(fixed, "pairs_max", json_integer(142));
    json_auto_t *other = test_stats_document(fixed, 100);
    assert_true(json_is_null(json_object_get(other, "llr")));
    assert_true(json_is_null(json_object_get(other, "bounds")));
    assert_true(near(real_at(other, "eta", "games_left"), 200, 0));
    assert_true(near(real_at(other, "eta", "seconds"), 7200, 1e-9));
}

// From the middle of <0,2> with nothing seen but draws and splits, it takes about what the theory
// says of a patch worth 1 nElo, and is as likely to pass as not.
static void the_eta_of_an_even_test_is_that_of_the_theory(void **state) {
    (void)state;
    static const int ptnml[] = {55, 2340, 5200, 2350, 56};
    json_auto_t *test = test_row("sprt", "active", "", ptnml, 5000, 4980, 10022, 0);
    json_auto_t *doc = test_stats_document(test, 0);
    double left = real_at(doc, "eta", "games_left");
    assert_true(left > 100000 && left < 270000);
    assert_true(near(real_at(doc, "eta", "pass"), 0.5, 0.02));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_state_comes_back_exactly),
        cmocka_unit_test(a_file_that_is_not_a_state_is_refused),
        cmocka_unit_test(a_batch_moves_the_llr_to_its_golden_value),
        cmocka_unit_test(a_test_of_fixed_length_has_no_llr),
        cmocka_unit_test(every_kind_is_found_by_its_name),
        cmocka_unit_test(states_are_those_of_the_schema),
        cmocka_unit_test(the_text_has_fishtests_form),
        cmocka_unit_test(colours_have_fishtests_meanings),
        cmocka_unit_test(a_fixed_test_is_coloured_by_its_los),
        cmocka_unit_test(the_document_has_both_estimates),
        cmocka_unit_test(a_test_without_games_has_a_document),
        cmocka_unit_test(a_finished_test_has_no_eta_and_a_fixed_one_no_llr),
        cmocka_unit_test(the_eta_of_an_even_test_is_that_of_the_theory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

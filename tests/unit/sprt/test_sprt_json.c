// The lines of `sprt --json`: shapes of answers, and what bad lines are told.
#include "tests/unit/sprt/sprt_vectors.h"

#include "sprt/json_api.h"

static json_t *ask(const char *line) {
    char *text = json_api_answer(line, strlen(line));
    json_t *answer = json_loads(text, 0, NULL);
    free(text);
    assert_non_null(answer);
    return answer;
}

static void expect_error(const char *line, const char *part) {
    json_auto_t *answer = ask(line);
    const char *error = json_string_value(json_object_get(answer, "error"));
    assert_non_null(error);
    if (!strstr(error, part))
        fail_msg("%s: \"%s\" does not mention \"%s\"", line, error, part);
}

static void expect_numbers(const char *line, const char *const *names, const double *known,
                           size_t n) {
    json_auto_t *answer = ask(line);
    for (size_t i = 0; i < n; i++)
        assert_close(member(answer, names[i]), known[i], 1e-7);
}

static void each_operation_answers_in_its_shape(void **state) {
    (void)state;
    expect_numbers("{\"op\":\"llr\",\"model\":\"normalized\",\"elo0\":0,\"elo1\":2,"
                   "\"counts\":[39,2226,31451,2412,40]}",
                   (const char *[]){"llr"}, (double[]){2.93690982}, 1);
    expect_numbers("{\"op\":\"sprt_elo\",\"model\":\"logistic\",\"elo0\":-3,\"elo1\":1,"
                   "\"alpha\":0.05,\"beta\":0.05,\"counts\":[10789,19328,33806,19402,10543]}",
                   (const char *[]){"elo", "low", "high", "los"},
                   (double[]){-.9925365595, -3.488492131, 1.488585895, .188034793}, 4);
    expect_numbers("{\"op\":\"elo\",\"counts\":[43,61,144,55,37]}",
                   (const char *[]){"elo", "error", "los", "pair_ratio"},
                   (double[]){-9.19897327, 20.92723668, .19407223, 92. / 104}, 4);
    expect_numbers("{\"op\":\"expect\",\"model\":\"normalized\",\"elo0\":0,\"elo1\":2,"
                   "\"alpha\":0.05,\"beta\":0.05,\"draw_ratio\":0.49,\"bias\":191,\"elo\":0}",
                   (const char *[]){"pass"}, (double[]){.05}, 1);
    expect_numbers("{\"op\":\"plan\",\"model\":\"normalized\",\"elo0\":-2,\"elo1\":2,"
                   "\"alpha\":0.05,\"beta\":0.05,\"draw_share\":0.5,\"elo\":0,\"pairs_max\":1}",
                   (const char *[]){"accepted", "rejected", "undecided", "pairs"},
                   (double[]){0, 0, 1, 1}, 4);
    expect_numbers("{\"op\":\"width\",\"unit\":\"logistic\",\"x\":3,"
                   "\"counts\":[39,2226,31451,2412,40]}",
                   (const char *[]){"elo", "half"}, (double[]){.90298105, .66253149}, 2);
    expect_numbers("{\"op\":\"width_pairs\",\"unit\":\"normalized\",\"x\":3,\"draw_share\":0.5}",
                   (const char *[]){"pairs"}, (double[]){25761.5668327592}, 1);
}

#define TEST "\"model\":\"logistic\",\"elo0\":0,\"elo1\":40,\"alpha\":0.05,\"beta\":0.05,"

static void a_run_stops_at_its_verdict(void **state) {
    (void)state;
    char line[4096];
    snprintf(
        line, sizeof line, "{\"op\":\"run\"," TEST "\"batch\":4,\"outcomes\":\"%.*s\"}", 500,
        "333333333333333333333333333333333333333333333333333333333333333333333333333333333333");
    json_auto_t *answer = ask(line);
    assert_string_equal(json_string_value(json_object_get(answer, "state")), "accepted");
    assert_true(member(answer, "llr") > 2);
    assert_true(member(answer, "pairs") < 80 && fmod(member(answer, "pairs"), 4) == 0);
}

static void an_open_run_counts_whole_batches_only(void **state) {
    (void)state;
    json_auto_t *answer = ask("{\"op\":\"run\"," TEST "\"batch\":4,\"outcomes\":\"22123\"}");
    assert_string_equal(json_string_value(json_object_get(answer, "state")), "");
    assert_near(member(answer, "pairs"), 4, 0);
}

static void a_width_says_whether_the_test_stops(void **state) {
    (void)state;
    json_auto_t *wide = ask("{\"op\":\"width\",\"unit\":\"logistic\",\"x\":0.6,"
                            "\"counts\":[39,2226,31451,2412,40]}");
    json_auto_t *narrow = ask("{\"op\":\"width\",\"unit\":\"logistic\",\"x\":0.7,"
                              "\"counts\":[39,2226,31451,2412,40]}");
    assert_true(json_is_false(json_object_get(wide, "stops")));
    assert_true(json_is_true(json_object_get(narrow, "stops")));
    assert_true(member(narrow, "low") < 0.3 && member(narrow, "high") > 1.5);
    json_auto_t *empty =
        ask("{\"op\":\"width\",\"unit\":\"normalized\",\"x\":3,\"counts\":[0,0,0,0,0]}");
    assert_true(json_is_null(json_object_get(empty, "elo")));
}

static void workers_with_too_few_games_have_null_residuals(void **state) {
    (void)state;
    json_auto_t *answer = ask("{\"op\":\"chi2\",\"rows\":[[45,45,110],[1,1,2],[50,50,100]]}");
    json_t *residuals = json_object_get(answer, "residuals");
    assert_int_equal(json_array_size(residuals), 3);
    assert_true(json_is_null(json_array_get(residuals, 1)));
    assert_true(json_is_number(json_array_get(residuals, 2)));
    assert_near(member(answer, "dof"), 2, 0);
}

static void numbers_that_json_cannot_hold_are_null(void **state) {
    (void)state;
    json_auto_t *answer = ask("{\"op\":\"elo\",\"counts\":[0,0,1,1,0]}");
    assert_true(json_is_null(json_object_get(answer, "pair_ratio")));
    json_auto_t *empty = ask("{\"op\":\"chi2\",\"rows\":[]}");
    assert_true(json_is_null(json_object_get(empty, "chi2")));
}

#define UNIT "\"unit\":\"logistic\","

static void bad_lines_are_told_which_field_and_why(void **state) {
    (void)state;
    expect_error("", "not JSON");
    expect_error("[1", "not JSON");
    expect_error("[]", "object");
    expect_error("{}", "op: missing");
    expect_error("{\"op\":1}", "op: must be one of");
    expect_error("{\"op\":\"x\"}", "op: must be one of");
    expect_error("{\"op\":\"elo\",\"op\":\"llr\"}", "duplicate");
    expect_error("{\"op\":\"elo\"}", "counts: missing");
    expect_error("{\"op\":\"elo\",\"counts\":7}", "counts: must be a list");
    expect_error("{\"op\":\"elo\",\"counts\":[1,2]}", "counts: must be a list");
    expect_error("{\"op\":\"elo\",\"counts\":[1,2,-3]}", "counts: each");
    expect_error("{\"op\":\"elo\",\"counts\":[1,2,\"3\"]}", "counts: each");
    expect_error("{\"op\":\"elo\",\"counts\":[1,2,1e400]}", "not JSON");
    expect_error("{\"op\":\"elo\",\"counts\":[1,2,1e300]}", "counts: each");
    expect_error("{\"op\":\"llr\",\"model\":\"bayes\"}", "model: must be");
    expect_error("{\"op\":\"llr\",\"model\":\"logistic\",\"elo0\":\"0\"}",
                 "elo0: must be a number");
    expect_error("{\"op\":\"run\"," TEST "\"batch\":0,\"outcomes\":\"\"}", "batch: must be");
    expect_error("{\"op\":\"run\"," TEST "\"batch\":1.5,\"outcomes\":\"\"}", "batch: must be");
    expect_error("{\"op\":\"run\"," TEST "\"batch\":1,\"outcomes\":\"015\"}", "character 3");
    expect_error("{\"op\":\"run\"," TEST "\"batch\":1,\"outcomes\":7}", "outcomes: must be");
    expect_error("{\"op\":\"chi2\",\"rows\":[[1,2,3],[1,2]]}", "row 2");
    expect_error("{\"op\":\"chi2\",\"rows\":{}}", "rows: must be a list");
    expect_error("{\"op\":\"expect\"," TEST "\"draw_ratio\":1,\"bias\":0,\"elo\":0}", "draw_ratio");
    expect_error("{\"op\":\"expect\"," TEST "\"draw_ratio\":0.99,\"bias\":300,\"elo\":0}", "bias");
    expect_error("{\"op\":\"plan\"," TEST "\"draw_share\":1,\"elo\":0,\"pairs_max\":9}",
                 "draw_share: must");
    expect_error("{\"op\":\"plan\"," TEST "\"draw_share\":0.5,\"elo\":0,\"pairs_max\":0}",
                 "pairs_max: must");
    expect_error("{\"op\":\"plan\"," TEST "\"draw_share\":0.5,\"elo\":0}", "pairs_max: missing");
    expect_error("{\"op\":\"width\",\"x\":3,\"counts\":[1,2,3,2,1]}", "unit: missing");
    expect_error("{\"op\":\"width\"," UNIT "\"x\":\"3\"}", "x: must be a number");
    expect_error("{\"op\":\"width\"," UNIT "\"x\":0,\"counts\":[1,2,3,2,1]}",
                 "x: the width must be");
    expect_error("{\"op\":\"width\"," UNIT "\"x\":3,\"counts\":[1,2,3]}",
                 "counts: must be a list of 5");
    expect_error("{\"op\":\"width_pairs\"," UNIT "\"x\":101,\"draw_share\":0.5}",
                 "x: the width must");
    expect_error("{\"op\":\"width_pairs\"," UNIT "\"x\":3}", "draw_share: missing");
    expect_error("{\"op\":\"width_pairs\"," UNIT "\"x\":3,\"draw_share\":1}", "draw_share: must");
    expect_error("{\"op\":\"width_pairs\"," UNIT "\"x\":3,\"draw_share\":0}", "draw_share: must");
}

static void hypotheses_without_an_estimate_are_an_error(void **state) {
    (void)state;
    expect_error("{\"op\":\"llr\",\"model\":\"normalized\",\"elo0\":-300,\"elo1\":0,"
                 "\"counts\":[1,2,3,2,1]}",
                 "elo0, elo1");
    expect_error("{\"op\":\"sprt_elo\",\"model\":\"normalized\",\"elo0\":2,\"elo1\":0,"
                 "\"alpha\":0.05,\"beta\":0.05,\"counts\":[1,2,3,2,1]}",
                 "elo0 must be below elo1");
}

static void nesting_deeper_than_any_request_is_refused(void **state) {
    (void)state;
    static char deep[JSON_API_LINE_MAX];
    memset(deep, '[', sizeof deep);
    char *text = json_api_answer(deep, sizeof deep);
    assert_non_null(strstr(text, "error"));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operation_answers_in_its_shape),
        cmocka_unit_test(a_run_stops_at_its_verdict),
        cmocka_unit_test(an_open_run_counts_whole_batches_only),
        cmocka_unit_test(a_width_says_whether_the_test_stops),
        cmocka_unit_test(workers_with_too_few_games_have_null_residuals),
        cmocka_unit_test(numbers_that_json_cannot_hold_are_null),
        cmocka_unit_test(bad_lines_are_told_which_field_and_why),
        cmocka_unit_test(hypotheses_without_an_estimate_are_an_error),
        cmocka_unit_test(nesting_deeper_than_any_request_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

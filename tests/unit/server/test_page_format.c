// How numbers read on pages, and where the lines of charts go.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "server/pages/chart.h"
#include "server/pages/format.h"

#define NB "\xc2\xa0"
#define MINUS "\xe2\x88\x92"

static void assert_reads(const char *form, json_t *value, const char *expected) {
    Str out scope(str_release);
    str_init(&out, 1000);
    format_value(form, value, &out);
    json_decref(value);
    if (strcmp(out.data, expected))
        fail_msg("%s: got \"%s\", wanted \"%s\"", form ? form : "no form", out.data, expected);
}

static void numbers_read_in_the_form_that_is_named(void **state) {
    (void)state;
    assert_reads("signed", json_real(1.234), "+1.23");
    assert_reads("signed", json_real(-12.5), MINUS "12.50");
    assert_reads("signed", json_real(-0.001), "0.00");
    assert_reads("fixed2", json_real(-2.944), MINUS "2.94");
    assert_reads("fixed3", json_real(0.0004), "0.000");
    assert_reads("percent", json_real(0.9912), "99.1" NB "%");
    assert_reads("whole", json_integer(36032), "36,032");
    assert_reads("whole", json_integer(1234567), "1,234,567");
    assert_reads("whole", json_integer(999), "999");
    assert_reads("speed", json_real(812345), "812" NB "kn/s");
    assert_reads("speed", json_real(1234567), "1.23" NB "Mn/s");
    assert_reads("mib", json_integer(31000), "30.3" NB "GiB");
    assert_reads("bytes", json_integer(1934022), "1.84" NB "MiB");
    assert_reads("bytes", json_integer(77), "77" NB "B");
    assert_reads("rate", json_real(12.34), "12.3");
    assert_reads("rate", json_real(1234.5), "1,234");
    assert_reads("fixed2", json_null(), "\xe2\x80\x93");
    assert_reads("coordinate", json_real(-1234.56), "-1234.6");
    assert_reads("iso", json_real(1700000000.9), "2023-11-14T22:13:20Z");
    assert_reads("date", json_real(1700000000), "2023-11-14 22:13 UTC");
}

static void without_a_form_values_read_as_in_json(void **state) {
    (void)state;
    assert_reads(NULL, json_integer(1234567), "1234567");
    assert_reads(NULL, json_integer(9007199254740991), "9007199254740991");
    assert_reads(NULL, json_real(0.05), "0.05");
    assert_reads(NULL, json_null(), "\xe2\x80\x93");
}

static void texts_are_kept_but_for_hashes(void **state) {
    (void)state;
    assert_reads("short", json_string("7c211433f02071597741e6ff5a8ea34789abbf43"), "7c211433f0");
    assert_reads("short", json_string("main"), "main");
    assert_reads("whole", json_string("12000"), "12000");
    assert_reads("json", json_pack("{s:[i,s]}", "a", 1, "<"), "{\"a\":[1,\"<\"]}");
    assert_true(format_is_known("signed") && format_is_known("short"));
    assert_false(format_is_known("elo"));
}

static void assert_ago(double seconds, const char *expected) {
    Str out scope(str_release);
    str_init(&out, 100);
    format_ago(seconds, &out);
    assert_string_equal(out.data, expected);
}

static void times_are_shown_in_one_unit(void **state) {
    (void)state;
    assert_ago(0.4, "now");
    assert_ago(59.9, "59" NB "s ago");
    assert_ago(60, "1" NB "min ago");
    assert_ago(3599, "59" NB "min ago");
    assert_ago(7200, "2" NB "h ago");
    assert_ago(90000, "1" NB "d ago");
    assert_ago(-120, "in 2" NB "min");
}

static void durations_are_shown_in_two_units_at_most(void **state) {
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {{12, "12" NB "s"},
                 {600, "10" NB "min"},
                 {3900, "1" NB "h" NB "05" NB "min"},
                 {200000, "2" NB "d" NB "7" NB "h"},
                 {1e9, "over a year"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Str out scope(str_release);
        str_init(&out, 100);
        format_duration(cases[i].seconds, &out);
        assert_string_equal(out.data, cases[i].text);
    }
}

// ---- charts -------------------------------------------------------------------------------------

static void ticks_stand_at_round_numbers(void **state) {
    static const struct {
        double from, to;
        int count, decimals;
        double step;
    } cases[] = {{0, 10, 5, 0, 2},         {0, 5760, 5, 0, 2000}, {-3.2, 3.2, 6, 0, 2},
                 {-0.31, 0.28, 6, 1, 0.1}, {0, 1, 5, 1, 0.2},     {49.9, 50.1, 5, 2, 0.05}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int decimals;
        double step = chart_step(cases[i].from, cases[i].to, cases[i].count, &decimals);
        assert_true(fabs(step - cases[i].step) < 1e-9 * cases[i].step);
        assert_int_equal(decimals, cases[i].decimals);
    }
}

static json_t *some_stats(double progress) {
    return json_pack("{s:{s:f, s:f, s:f}, s:[i, i, i, i, i]}", "bounds", "lower", -2.94, "upper",
                     2.94, "progress", progress, "ptnml", 1, 10, 20, 8, 1);
}

static json_t *some_history(void) {
    return json_pack("{s:[i, i], s:{s:[f, f]}, s:[f, f], s:[f, f], s:[f, f], s:[f, f]}", "games",
                     32, 64, "points", "llr", 0.5, -1.5, "score", 0.52, 0.48, "elo", 13.9, -13.9,
                     "error", 60.0, 40.0, "time", 1000.0, 1060.0);
}

static double member(const json_t *object, const char *name) {
    return json_number_value(json_object_get(object, name));
}

static void llr_is_drawn_from_zero_between_its_bounds(void **state) {
    json_auto_t *history = some_history(), *stats = some_stats(-0.5);
    json_auto_t *chart = chart_llr(history, stats);
    const json_t *bounds = json_object_get(chart, "bounds"), *plot = json_object_get(chart, "plot");
    (void)state;
    double upper = member(json_array_get(bounds, 0), "y");
    double lower = member(json_array_get(bounds, 1), "y");
    assert_true(member(plot, "top") < upper && upper < lower && lower < member(plot, "bottom"));
    // Three points: the origin in the middle of the left edge, and both batches.
    double x[3], y[3];
    const char *line = json_string_value(json_object_get(chart, "line"));
    assert_int_equal(
        sscanf(line, "%lf,%lf %lf,%lf %lf,%lf", &x[0], &y[0], &x[1], &y[1], &x[2], &y[2]), 6);
    assert_true(fabs(x[0] - member(plot, "left")) < 0.1 && fabs(y[0] - (upper + lower) / 2) < 0.1);
    assert_true(fabs(x[2] - member(plot, "right")) < 0.1 && y[1] < y[0] && y[2] > y[0]);
    assert_string_equal(json_string_value(json_object_get(json_array_get(bounds, 1), "label")),
                        MINUS "2.94");
}

static void a_test_without_batches_has_empty_charts(void **state) {
    json_auto_t *history = json_pack("{s:[], s:{}, s:[], s:[], s:[], s:[]}", "games", "points",
                                     "score", "elo", "error", "time");
    json_auto_t *stats = some_stats(0);
    json_auto_t *llr = chart_llr(history, stats), *elo = chart_elo(history);
    (void)state;
    assert_true(json_is_true(json_object_get(llr, "empty")));
    assert_true(json_is_true(json_object_get(elo, "empty")));
    assert_string_equal(json_string_value(json_object_get(elo, "line")), "");
}

static void the_band_of_elo_stays_in_its_frame(void **state) {
    json_auto_t *history = some_history();
    json_auto_t *chart = chart_elo(history);
    const json_t *plot = json_object_get(chart, "plot");
    const char *at = json_string_value(json_object_get(chart, "band"));
    int points = 0, used;
    double x, y;
    (void)state;
    for (; sscanf(at, "%lf,%lf%n", &x, &y, &used) == 2; at += used, points++) {
        assert_true(x >= member(plot, "left") - 0.1 && x <= member(plot, "right") + 0.1);
        assert_true(y >= member(plot, "top") - 0.1 && y <= member(plot, "bottom") + 0.1);
    }
    assert_int_equal(points, 4);
    assert_true(json_array_size(json_object_get(chart, "xticks")) >= 3);
}

static void the_bar_grows_from_the_middle(void **state) {
    json_auto_t *lost = some_stats(-0.5), *won = some_stats(1),
                *fixed = json_pack("{s:n}", "bounds");
    json_auto_t *left = chart_progress(lost), *right = chart_progress(won);
    json_auto_t *none = chart_progress(fixed);
    (void)state;
    assert_true(member(left, "x") == 50 && member(left, "width") == 50);
    assert_true(member(right, "x") == 100 && member(right, "width") == 100);
    assert_string_equal(json_string_value(json_object_get(left, "side")), "reject");
    assert_true(json_is_null(none));
}

static void pairs_stand_side_by_side(void **state) {
    json_auto_t *stats = some_stats(0), *chart = chart_pairs(stats);
    const json_t *bars = json_object_get(chart, "bars");
    (void)state;
    assert_int_equal(json_array_size(bars), 5);
    assert_true(member(json_array_get(bars, 2), "height") ==
                2 * member(json_array_get(bars, 1), "height"));
    assert_true(fabs(member(json_array_get(bars, 3), "share") - 0.2) < 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_read_in_the_form_that_is_named),
        cmocka_unit_test(without_a_form_values_read_as_in_json),
        cmocka_unit_test(texts_are_kept_but_for_hashes),
        cmocka_unit_test(times_are_shown_in_one_unit),
        cmocka_unit_test(durations_are_shown_in_two_units_at_most),
        cmocka_unit_test(ticks_stand_at_round_numbers),
        cmocka_unit_test(llr_is_drawn_from_zero_between_its_bounds),
        cmocka_unit_test(a_test_without_batches_has_empty_charts),
        cmocka_unit_test(the_band_of_elo_stays_in_its_frame),
        cmocka_unit_test(the_bar_grows_from_the_middle),
        cmocka_unit_test(pairs_stand_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

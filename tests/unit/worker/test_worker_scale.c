// Time controls, their scaling, and what `bench` prints.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "worker/api/backoff.h"
#include "worker/build/bench_output.h"
#include "worker/match/time_scale.h"

static MatchLimit parsed(const char *tc) {
    MatchLimit limit;
    Error err;
    assert_true(limit_parse(tc, &limit, &err));
    return limit;
}

static const char *scaled(const char *tc, double factor) {
    static char text[TC_TEXT_MAX];
    MatchLimit limit = parsed(tc);
    limit_scale(&limit, factor);
    return limit_text(&limit, text);
}

static void every_form_of_time_control_is_read(void **state) {
    (void)state;
    MatchLimit limit = parsed("40/10+0.1");
    assert_int_equal(limit.moves_to_go, 40);
    assert_int_equal(limit.base_ms, 10000);
    assert_int_equal(limit.increment_ms, 100);
    assert_int_equal(parsed("0.5").base_ms, 500);
    assert_int_equal(parsed("st=0.25").move_ms, 250);
    assert_int_equal(parsed("nodes=20000").nodes, 20000);
    assert_int_equal(parsed("depth=8").depth, 8);
}

static void nonsense_is_no_time_control(void **state) {
    (void)state;
    static const char *const bad[] = {"",         "10+",     "+0.1",   "0+0.1",   "0/10+0.1",
                                      "x",        "10+0.1x", "-1+0.1", "1e3+0.1", "nan",
                                      "depth=0",  "depth=",  "st=",    "st=0",    "nodes=-5",
                                      "1.5/10+1", "10+0.1 ", "1..2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        MatchLimit limit;
        Error err;
        if (limit_parse(bad[i], &limit, &err))
            fail_msg("'%s' was taken", bad[i]);
        assert_string_equal(err.code, "bad_tc");
    }
}

static void scaling_goes_to_the_millisecond_on_base_and_increment_alike(void **state) {
    (void)state;
    assert_string_equal(scaled("10+0.1", 1), "10.000+0.100");
    assert_string_equal(scaled("10+0.1", 1.2345), "12.345+0.123");
    assert_string_equal(scaled("40/10+0.1", 0.5), "40/5.000+0.050");
    assert_string_equal(scaled("st=0.1", 2), "st=0.200");
    assert_string_equal(scaled("1+0.001", 0.1), "0.100+0.001"); // never down to no increment
}

static void nodes_and_depth_are_the_same_everywhere(void **state) {
    (void)state;
    MatchLimit nodes = parsed("nodes=20000"), clock = parsed("10+0.1");
    assert_false(limit_is_scaled(&nodes));
    assert_true(limit_is_scaled(&clock));
    assert_string_equal(scaled("nodes=20000", 3), "nodes=20000");
    assert_string_equal(scaled("depth=8", 3), "depth=8");
}

static void a_slower_machine_gets_more_time_within_the_bounds(void **state) {
    (void)state;
    const ClockScale scale = {1e6, 0.5, 4};
    double factor;
    assert_true(clock_scale_factor(&scale, 5e5, &factor));
    assert_true(factor == 2);
    assert_true(clock_scale_factor(&scale, 1e7, &factor));
    assert_true(factor == 0.5);
    assert_false(clock_scale_factor(&scale, 1e5, &factor));
    assert_true(factor == 4);
    assert_true(clock_scale_factor(&scale, clock_scale_least(&scale), &factor));
}

static bool bench_of(const char *text, Bench *bench) {
    Error err;
    return bench_read(text, strlen(text), bench, &err);
}

static void bench_is_read_as_stockfish_and_others_print_it(void **state) {
    (void)state;
    Bench bench;
    assert_true(bench_of("Position 1\n===\nTotal time (ms) : 120\nNodes searched  : 2345678\n"
                         "Nodes/second    : 19547316\n",
                         &bench));
    assert_int_equal(bench.nodes, 2345678);
    assert_true(bench.speed == 19547316);
    assert_true(bench_of("nodes searched: 17", &bench));
    assert_int_equal(bench.nodes, 17);
}

static void the_last_count_of_bench_stands(void **state) {
    (void)state;
    Bench bench;
    assert_true(bench_of("Nodes searched : 1\nNodes searched : 2\r\n", &bench));
    assert_int_equal(bench.nodes, 2);
}

static void bench_without_a_count_says_so(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "Nodes searched\n",
                                      "Nodes searched : x\n",
                                      "Nodes searched : 0\n",
                                      "x Nodes searched : 5\n",
                                      "Nodes searched : 99999999999999999999\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Bench bench;
        if (bench_of(bad[i], &bench))
            fail_msg("'%s' was taken", bad[i]);
    }
}

static void waits_double_to_a_minute_with_jitter(void **state) {
    (void)state;
    Backoff backoff = {0};
    double ceiling = 1;
    for (int i = 0; i < 12; i++) {
        double wait = backoff_next(&backoff, 0);
        assert_true(wait >= ceiling / 2 && wait <= ceiling);
        ceiling = ceiling * 2 > 60 ? 60 : ceiling * 2;
    }
    backoff_reset(&backoff);
    assert_true(backoff_next(&backoff, 0) <= 1);
}

static void retry_after_is_never_undercut(void **state) {
    (void)state;
    Backoff backoff = {0};
    for (int i = 0; i < 20; i++) {
        double wait = backoff_next(&backoff, 7);
        assert_true(wait >= 7 && wait <= 7 * 1.25);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_of_time_control_is_read),
        cmocka_unit_test(nonsense_is_no_time_control),
        cmocka_unit_test(scaling_goes_to_the_millisecond_on_base_and_increment_alike),
        cmocka_unit_test(nodes_and_depth_are_the_same_everywhere),
        cmocka_unit_test(a_slower_machine_gets_more_time_within_the_bounds),
        cmocka_unit_test(bench_is_read_as_stockfish_and_others_print_it),
        cmocka_unit_test(the_last_count_of_bench_stands),
        cmocka_unit_test(bench_without_a_count_says_so),
        cmocka_unit_test(waits_double_to_a_minute_with_jitter),
        cmocka_unit_test(retry_after_is_never_undercut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

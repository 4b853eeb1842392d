// The line that a volunteer sees.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "worker/console/status_line.h"

static const int64_t second_ns = 1000000000;

// A task at play, 100 s after the epoch of its clock.
static Status playing(void) {
    return (Status){.phase = "play",
                    .test = 12,
                    .title = "Reduce late moves a little more",
                    .pairs = 640,
                    .pairs_done = 12,
                    .wins = 9,
                    .losses = 7,
                    .draws = 8,
                    .summary = "LLR 0.52",
                    .games_total = 24,
                    .credit = 1234567,
                    .credit_user = "anna",
                    .samples = {{.when_ns = 0, .games = 0}},
                    .sample_count = 1};
}

static void shows(const Status *status, int width, const char *wanted) {
    char line[STATUS_LINE_MAX];
    status_line(status, 100 * second_ns, width, line);
    assert_string_equal(line, wanted);
}

static void play_tells_pair_score_llr_rate_and_credit(void **state) {
    (void)state;
    Status s = playing();
    shows(&s, 200,
          "test 12 Reduce late moves a little more: pair 13 of 640, +9 -7 =8, LLR 0.52, 864 "
          "games/h, 1,234,567 games credited to anna");
    s.credit_user[0] = 0;
    *s.summary = 0;
    s.sample_count = 0;
    s.pairs_done = 640;
    shows(&s, 200,
          "test 12 Reduce late moves a little more: pair 640 of 640, +9 -7 =8, 1,234,567 games "
          "credited");
}

static void a_narrow_terminal_cuts_the_title_then_what_comes_last(void **state) {
    (void)state;
    Status s = playing();
    shows(&s, 110,
          "test 12 Reduce late moves …: pair 13 of 640, +9 -7 =8, LLR 0.52, 864 games/h, 1,234,567 "
          "games "
          "credited to anna");
    shows(&s, 70, "test 12 Reduce l…: pair 13 of 640, +9 -7 =8, LLR 0.52, 864 games/h");
    shows(&s, 40, "test 12 Reduce l…: pair 13 of 640");
    shows(&s, 10, "test 12 Re");
}

static void no_line_is_ever_wider_than_the_terminal(void **state) {
    (void)state;
    Status s = playing();
    snprintf(s.title, sizeof s.title, "Schärfere Kürzung für späte Züge ♟♟♟");
    snprintf(s.waiting, sizeof s.waiting, "http://chess.example: no connection");
    for (int width = 1; width < 200; width++) {
        char line[STATUS_LINE_MAX];
        int columns = 0;
        status_line(&s, 100 * second_ns, width, line);
        for (const char *c = line; *c; c++)
            columns += ((unsigned char)*c & 0xC0) != 0x80;
        assert_true(columns <= width);
    }
}

static void a_build_tells_how_long_it_takes(void **state) {
    (void)state;
    Status s = {.phase = "build",
                .detail = "new",
                .test = 3,
                .title = "Patch",
                .credit = -1,
                .since_ns = 86 * second_ns,
                .usual_s = 40};
    shows(&s, 100, "test 3 Patch: build new, 14 s of about 40");
    s.usual_s = 0;
    shows(&s, 100, "test 3 Patch: build new, 14 s");
}

static void waiting_says_for_what_and_until_when(void **state) {
    (void)state;
    Status s = {.credit = -1};
    shows(&s, 100, "waiting for work");
    s.credit = 4096;
    s.games_total = 24;
    shows(&s, 100, "waiting for work, 24 games since the start, 4,096 games credited");
    snprintf(s.waiting, sizeof s.waiting, "http://chess.example: connection refused");
    s.retry_ns = 112 * second_ns - 1;
    shows(&s, 100, "waiting for http://chess.example: connection refused, next try in 12 s");
    Status game = playing();
    snprintf(game.waiting, sizeof game.waiting, "http://a.example: no connection");
    game.retry_ns = 112 * second_ns;
    shows(&game, 110,
          "test 12 Reduce l…: pair 13 of 640, +9 -7 =8, waiting for http://a.example: no "
          "connection, next try in 12 s");
    s.retry_ns = 99 * second_ns;
    shows(&s, 100, "waiting for http://chess.example: connection refused");
}

static void stopping_comes_first(void **state) {
    (void)state;
    Status s = playing();
    s.stopping = true;
    shows(&s, 70, "test 12 Reduce l…: stopping after the running games, pair 13 of 640");
    s.phase[0] = 0;
    shows(&s, 70, "stopping");
}

static void games_per_hour_are_those_of_the_last_minutes(void **state) {
    (void)state;
    Status s = {.credit = -1};
    assert_true(status_rate(&s, 0) == 0);
    for (int t = 0; t <= 3600; t++) { // a game a second, later one every ten
        s.games_total += t < 1800 || t % 10 == 0;
        status_sample(&s, t * second_ns);
    }
    double rate = status_rate(&s, 3600 * second_ns);
    assert_true(rate > 350 && rate < 370);
}

static void a_title_cannot_steer_the_terminal(void **state) {
    (void)state;
    Status s = {.phase = "fetch",
                .test = 3,
                .title = "\033[2Jgone\r\n\xC2\x9B"
                         "1m\x7F\xE2\x80\xAE\xFF",
                .credit = -1,
                .since_ns = 100 * second_ns};
    shows(&s, 100, "test 3 \\x1b[2Jgone\\x0d\\x0a\\x9b1m\\x7f\\u202e\\xff: fetch, 0 s");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(play_tells_pair_score_llr_rate_and_credit),
        cmocka_unit_test(a_narrow_terminal_cuts_the_title_then_what_comes_last),
        cmocka_unit_test(no_line_is_ever_wider_than_the_terminal),
        cmocka_unit_test(a_build_tells_how_long_it_takes),
        cmocka_unit_test(waiting_says_for_what_and_until_when),
        cmocka_unit_test(stopping_comes_first),
        cmocka_unit_test(games_per_hour_are_those_of_the_last_minutes),
        cmocka_unit_test(a_title_cannot_steer_the_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

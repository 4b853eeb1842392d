// The standing of a match and its summary (worker/match_report.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../worker/match_report.h"

static GameRecord *records(int white0, GameResult first, GameResult second) {
    static GameRecord games[2];
    games[0] = (GameRecord){.white = white0, .result = first, .culprit = -1};
    games[1] = (GameRecord){.white = 1 - white0, .result = second, .culprit = -1};
    return games;
}

static void the_nine_outcomes_of_a_pair_fall_into_five(void **state) {
    (void)state;
    // Game 0: engine 0 has White; game 1: it has Black.
    static const GameResult first[] = {RESULT_BLACK_WINS, RESULT_DRAW, RESULT_WHITE_WINS};
    static const GameResult second[] = {RESULT_WHITE_WINS, RESULT_DRAW, RESULT_BLACK_WINS};
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            MatchScore score = {0};
            match_score_add_pair(&score, records(0, first[a], second[b]));
            assert_true(score.pairs[a + b] == 1);
        }
}

static void results_count_for_the_first_engine_and_faults_for_their_author(void **state) {
    (void)state;
    MatchScore score = {0};
    GameRecord *games = records(1, RESULT_WHITE_WINS, RESULT_NONE);
    games[0].kind = GAME_END_TIME;
    games[0].culprit = 0;
    match_score_add_game(&score, &games[0]);
    games[0].kind = GAME_END_CRASH;
    match_score_add_game(&score, &games[0]);
    match_score_add_game(&score, &games[1]);
    assert_int_equal(score.losses, 2);
    assert_int_equal(score.wins + score.draws, 0);
    assert_int_equal(score.time_losses[0], 1);
    assert_int_equal(score.faults[0], 1);
    assert_int_equal(score.faults[1], 0);
}

static char *report_of(const MatchScore *score, const SprtBounds *bounds) {
    Str out;
    str_init(&out, 1 << 16);
    match_report(&out, &(MatchTitle){{"New", "Base"}, "10+0.1, 1t", bounds}, score);
    return str_steal(&out);
}

static void assert_has(const char *text, const char *part) {
    if (!strstr(text, part))
        fail_msg("\"%s\" is missing in:\n%s", part, text);
}

static void summary_has_what_scripts_look_for(void **state) {
    (void)state;
    const MatchScore score = {.wins = 30, .losses = 20, .draws = 50, .pairs = {1, 9, 22, 15, 3}};
    const SprtBounds bounds = {SPRT_NORMALIZED, 0, 2, 0.05, 0.05};
    scope(free_ptr) char *text = report_of(&score, &bounds);
    assert_has(text, "Results of New vs Base (10+0.1, 1t):\nElo: 34.86 +/- ");
    assert_has(text, ", nElo: ");
    assert_has(text, "LOS: ");
    assert_has(text, "PairsRatio: 1.80\n");
    assert_has(text, "Games: 100, Wins: 30, Losses: 20, Draws: 50, Points: 55.0 (55.00 %)\n");
    assert_has(text, "Ptnml(0-2): [1, 9, 22, 15, 3]\n");
    assert_has(text, "(-2.94, 2.94) [0.00, 2.00]\n");
    assert_has(text, "Total: 100 W: 30 L: 20 D: 50\n");
}

static void nothing_played_is_no_trouble(void **state) {
    (void)state;
    const MatchScore score = {0};
    const SprtBounds bounds = {SPRT_NORMALIZED, 0, 2, 0.05, 0.05};
    scope(free_ptr) char *text = report_of(&score, &bounds);
    assert_has(text, "Total: 0 W: 0 L: 0 D: 0\n");
    assert_null(strstr(text, "nan"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nine_outcomes_of_a_pair_fall_into_five),
        cmocka_unit_test(results_count_for_the_first_engine_and_faults_for_their_author),
        cmocka_unit_test(summary_has_what_scripts_look_for),
        cmocka_unit_test(nothing_played_is_no_trouble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

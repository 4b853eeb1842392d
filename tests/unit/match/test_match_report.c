// The standing of a match and its summary (worker/match_cli/report.h). What the peers' own programs
// printed lies in tests/data/match.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "worker/match_cli/report.h"

static const EngineSpec engines[] = {{.name = "New"}, {.name = "Base"}, {.name = "Third"}};

// Engine 0 or 1 of `players` with White, and how it ended.
static GameOutcome outcome(int white, GameResult result) {
    return (GameOutcome){.players = {0, 1}, .white = white, .result = result, .culprit = -1};
}

static void the_nine_outcomes_of_a_pair_fall_into_five(void **state) {
    (void)state;
    // Game 0: engine 0 has White; game 1: it has Black.
    static const GameResult first[] = {RESULT_BLACK_WINS, RESULT_DRAW, RESULT_WHITE_WINS};
    static const GameResult second[] = {RESULT_WHITE_WINS, RESULT_DRAW, RESULT_BLACK_WINS};
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            MatchScore score = {.first = 0, .second = 1}, other = {.first = 1, .second = 0};
            GameOutcome games[] = {outcome(0, first[a]), outcome(1, second[b])};
            match_score_add_pair(&score, games);
            match_score_add_pair(&other, games);
            assert_true(score.pairs[a + b] == 1 && other.pairs[4 - a - b] == 1);
            assert_true(score.drawn_pairs == (a == 1 && b == 1));
        }
}

static void results_count_for_the_first_engine_and_faults_for_their_author(void **state) {
    (void)state;
    MatchScore score = {.first = 0, .second = 1};
    GameOutcome lost = outcome(1, RESULT_WHITE_WINS), none = outcome(1, RESULT_NONE);
    lost.kind = GAME_END_TIME;
    lost.culprit = 0;
    lost.overloaded = true;
    match_score_add_game(&score, &lost);
    lost.kind = GAME_END_CRASH;
    lost.overloaded = false;
    match_score_add_game(&score, &lost);
    match_score_add_game(&score, &none);
    assert_int_equal(score.losses, 2);
    assert_int_equal(score.wins + score.draws + score.white[0], 0);
    assert_int_equal(score.time_losses[0], 1);
    assert_int_equal(score.faults[0], 1);
    assert_int_equal(score.faults[1], 0);
    assert_int_equal(score.overloaded, 1);
    MatchScore mirrored = {0};
    match_score_merge(&mirrored, &score, 1);
    assert_int_equal(mirrored.wins, 2);
    assert_int_equal(mirrored.faults[1], 1);
}

static char *report_of(const MatchTitle *title, const MatchScore *scores, int count) {
    Str out;
    str_init(&out, 1 << 16);
    match_report(&out, title, scores, count);
    return str_steal(&out);
}

static void assert_has(const char *text, const char *part) {
    if (!strstr(text, part))
        fail_msg("\"%s\" is missing in:\n%s", part, text);
}

static void summary_has_what_scripts_look_for(void **state) {
    (void)state;
    const MatchScore score = {.second = 1,
                              .wins = 30,
                              .losses = 20,
                              .draws = 50,
                              .pairs = {1, 9, 22, 15, 3},
                              .drawn_pairs = 20};
    const SprtBounds bounds = {SPRT_NORMALIZED, 0, 2, 0.05, 0.05};
    const MatchTitle title = {engines, 2, "10+0.1, 1t, 16MB", &bounds, false, false};
    scope(free_ptr) char *text = report_of(&title, &score, 1);
    assert_has(text, "Results of New vs Base (10+0.1, 1t, 16MB):\nElo: 34.86 +/- ");
    assert_has(text, ", nElo: ");
    assert_has(text, "LOS: ");
    assert_has(text, "PairsRatio: 1.80\n");
    assert_has(text, "Games: 100, Wins: 30, Losses: 20, Draws: 50, Points: 55.0 (55.00 %)\n");
    assert_has(text, "Ptnml(0-2): [1, 9, 22, 15, 3], WL/DD Ratio: 0.10\n");
    assert_has(text, "(-2.94, 2.94) [0.00, 2.00]\n");
    assert_has(text, "Total: 100 W: 30 L: 20 D: 50\n");
}

static void elo_by_games_alone_leaves_the_pairs_out(void **state) {
    (void)state;
    const MatchScore score = {.second = 1, .wins = 3, .losses = 1, .pairs = {0, 0, 1, 0, 1}};
    const MatchTitle title = {engines, 2, "", NULL, false, true};
    scope(free_ptr) char *text = report_of(&title, &score, 1);
    assert_has(text, "Elo: 190.79 +/- ");
    assert_null(strstr(text, "Ptnml"));
}

static void cutechess_has_its_own_words(void **state) {
    (void)state;
    const MatchScore score = {
        .second = 1, .wins = 5383, .losses = 5132, .draws = 4808, .white = {1892, 2423, 3347}};
    const SprtBounds bounds = {SPRT_LOGISTIC, 0, 5, 0.05, 0.05};
    const MatchTitle title = {engines, 2, "", &bounds, true, false};
    scope(str_release) Str lines;
    str_init(&lines, 1 << 12);
    match_report_score(&lines, &title, &score);
    assert_string_equal(lines.data, "Score of New vs Base: 5383 - 5132 - 4808  [0.508] 15323\n"
                                    "...      New playing White: 3347 - 1892 - 2423  [0.595] 7662\n"
                                    "...      New playing Black: 2036 - 3240 - 2385  [0.421] 7661\n"
                                    "...      White vs Black: 6587 - 3928 - 4808  [0.587] 15323\n");
    scope(free_ptr) char *text = report_of(&title, &score, 1);
    assert_has(text, "Elo difference: 5.7 +/- 4.6, LOS: 99.3 %, DrawRatio: 31.4 %\nSPRT: llr ");
    assert_has(text, "%), lbound -2.94, ubound 2.94");
}

static void more_engines_make_a_table_of_ranks(void **state) {
    (void)state;
    const MatchScore scores[] = {
        {.first = 0, .second = 1, .wins = 4, .losses = 2, .draws = 4, .pairs = {0, 1, 2, 1, 1}},
        {.first = 0, .second = 2, .wins = 8, .losses = 0, .draws = 2, .pairs = {0, 0, 0, 2, 3}},
    };
    MatchTitle title = {engines, 3, "", NULL, false, false};
    scope(free_ptr) char *text = report_of(&title, scores, 2);
    assert_has(text, "Rank Name                             Elo        +/-       nElo        +/-   "
                     "   Games      Score       Draw           Ptnml(0-2)\n   1 New ");
    assert_has(text, "        20      75.0%      20.0%      [0, 1, 2, 3, 4]\n");
    assert_has(text, "\n   2 Base ");
    assert_has(text, "\n   3 Third ");
    title.cutechess = true;
    scope(free_ptr) char *other = report_of(&title, scores, 2);
    assert_has(other, "Rank Name                          Elo     +/-   Games   Score    Draw \n");
    assert_has(other, "   1 New                           191 ");
    assert_has(other, "      20   75.0%   30.0% \n");
}

static void nothing_played_is_no_trouble(void **state) {
    (void)state;
    const MatchScore scores[2] = {{.second = 1}, {.first = 1, .second = 2}};
    const SprtBounds bounds = {SPRT_NORMALIZED, 0, 2, 0.05, 0.05};
    for (int cutechess = 0; cutechess < 2; cutechess++)
        for (int count = 1; count <= 2; count++) {
            const MatchTitle title = {engines, count + 1, "", &bounds, cutechess, false};
            scope(free_ptr) char *text = report_of(&title, scores, count);
            if (!cutechess && count == 1)
                assert_has(text, "Total: 0 W: 0 L: 0 D: 0\n");
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nine_outcomes_of_a_pair_fall_into_five),
        cmocka_unit_test(results_count_for_the_first_engine_and_faults_for_their_author),
        cmocka_unit_test(summary_has_what_scripts_look_for),
        cmocka_unit_test(elo_by_games_alone_leaves_the_pairs_out),
        cmocka_unit_test(cutechess_has_its_own_words),
        cmocka_unit_test(more_engines_make_a_table_of_ranks),
        cmocka_unit_test(nothing_played_is_no_trouble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

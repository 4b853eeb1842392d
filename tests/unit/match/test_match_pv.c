// Principal variations that cannot be right (worker/match/pv.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "worker/match/pv.h"

static Game game;

static void start(const char *fen) {
    Position pos;
    Refusal err;
    assert_true(position_from_fen(&pos, fen ? fen : POSITION_START_FEN, false, &err));
    game_init(&game, &pos);
}

// What is wrong with `info` where `played` was the move; "" for nothing.
static const char *problem_of(const char *info, const char *played, bool bound) {
    static char problem[PV_PROBLEM_MAX];
    Position before = game.now;
    int plies = game.plies;
    bool wrong =
        pv_problem(&game, info, strlen(info), bound, move_from_uci(&game.now, played), problem);
    assert_memory_equal(&game.now, &before, sizeof before);
    assert_int_equal(game.plies, plies);
    return wrong ? problem : "";
}

static void a_sound_pv_is_no_problem(void **state) {
    (void)state;
    start(NULL);
    assert_string_equal(problem_of("info depth 1 score cp 1 pv e2e4 e7e5 g1f3", "e2e4", false), "");
    assert_string_equal(problem_of("info depth 1 score cp 1", "e2e4", false), "");
    assert_string_equal(problem_of("info depth 1 score cp 1 pv ", "e2e4", false), "");
    assert_string_equal(problem_of("info pv e2e4 e7e5 score cp 1 nodes 7", "e2e4", false), "");
}

static void an_illegal_move_is_named(void **state) {
    (void)state;
    start(NULL);
    assert_string_equal(problem_of("info score cp 1 pv e2e4 e2e5", "e2e4", false),
                        "Illegal PV move e2e5");
    assert_string_equal(problem_of("info score cp 1 pv e2e4 \xff!", "e2e4", false),
                        "Illegal PV move ?!");
}

static void the_move_played_is_the_first_of_the_pv(void **state) {
    (void)state;
    start(NULL);
    assert_string_equal(problem_of("info score cp 1 pv e2e4", "d2d4", false),
                        "Bestmove is not the first move of the PV, e2e4");
    assert_string_equal(problem_of("info score cp 1 lowerbound pv e2e4", "d2d4", true), "");
}

static void a_mate_is_as_long_as_announced(void **state) {
    (void)state;
    start(NULL);
    static const struct {
        const char *info, *problem;
    } cases[] = {
        {"info score mate -2 pv f2f3 e7e5 g2g4 d8h4", ""},
        {"info score mate 3 pv f2f3", "Mate announced in 5 plies but the PV ends before it"},
        {"info score mate -1 pv f2f3 e7e5 g2g4", "Mate announced in 2 plies but the PV is longer"},
        {"info score mate -1 pv f2f3 e7e5",
         "Mate announced in 2 plies but the PV does not end in mate"},
        {"info score mate -1 pv f2f3 e7e5 g2g4 d8h4",
         "Mate announced in 2 plies but the PV is longer"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(problem_of(cases[i].info, "f2f3", false), cases[i].problem);
    assert_string_equal(problem_of("info score mate 3 lowerbound pv f2f3", "f2f3", true), "");
}

static void nothing_follows_the_end_of_the_game(void **state) {
    (void)state;
    start(NULL);
    assert_string_equal(problem_of("info score cp 1 pv f2f3 e7e5 g2g4 d8h4 a2a3", "f2f3", false),
                        "PV goes on after checkmate");
    assert_string_equal(
        problem_of("info score cp 0 pv g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8 e2e4", "g1f3",
                   false),
        "PV goes on after threefold repetition");
    start("6k1/8/8/8/8/8/8/K6R w - - 99 90");
    assert_string_equal(problem_of("info score cp 0 pv a1a2 g8g7", "a1a2", false),
                        "PV goes on after fifty-move rule");
}

int main(void) {
    rules_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_pv_is_no_problem),
        cmocka_unit_test(an_illegal_move_is_named),
        cmocka_unit_test(the_move_played_is_the_first_of_the_pv),
        cmocka_unit_test(a_mate_is_as_long_as_announced),
        cmocka_unit_test(nothing_follows_the_end_of_the_game),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

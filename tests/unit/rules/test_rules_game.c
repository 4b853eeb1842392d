// How games end.

#include "engine/rules/game.h"
#include "engine/rules/notation.h"
#include "tests/unit/rules/rules_kit.h"

static Game game;

// Plays moves in UCI, separated by spaces.
static void play(const char *moves) {
    while (*moves) {
        char text[MOVE_TEXT_MAX] = "";
        size_t length = strcspn(moves, " ");
        memcpy(text, moves, length);
        Move move = move_from_uci(&game.now, text);
        assert_int_not_equal(move, MOVE_NONE);
        game_play(&game, move);
        moves += length + (moves[length] == ' ');
    }
}

static GameEnd end_after(const char *fen, const char *moves) {
    Position start = position_of(fen);
    game_init(&game, &start);
    play(moves);
    return game_end(&game);
}

static void mate_is_won_by_the_side_that_gave_it(void **state) {
    (void)state;
    GameEnd end = end_after(POSITION_START_FEN, "f2f3 e7e5 g2g4 d8h4");
    assert_int_equal(end, END_CHECKMATE);
    assert_int_equal(game_result(&game, end), RESULT_BLACK_WINS);
    end = end_after("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1", "a1a8");
    assert_int_equal(game_result(&game, end), RESULT_WHITE_WINS);
}

static void no_move_and_no_check_is_stalemate(void **state) {
    (void)state;
    assert_int_equal(end_after("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", "f1f7"), END_STALEMATE);
    assert_int_equal(game_result(&game, END_STALEMATE), RESULT_DRAW);
}

static void the_third_time_a_position_stands_it_is_a_draw(void **state) {
    (void)state;
    assert_int_equal(end_after(POSITION_START_FEN, "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1"), END_NONE);
    play("f6g8");
    assert_int_equal(game_repetitions(&game), 3);
    assert_int_equal(game_end(&game), END_THREEFOLD);
}

static void positions_with_other_rights_are_not_the_same(void **state) {
    (void)state;
    const char *fen = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
    assert_int_equal(end_after(fen, "h1g1 h8g8 g1h1 g8h8 h1g1 h8g8 g1h1 g8h8"), END_NONE);
    assert_int_equal(game_repetitions(&game), 2);
}

static void a_passed_square_counts_only_where_it_can_be_taken(void **state) {
    (void)state;
    // No pawn can take on e3, so the position after e2e4 is the one that returns.
    end_after(POSITION_START_FEN, "e2e4 g8f6 g1f3 f6g8 f3g1");
    assert_int_equal(game_repetitions(&game), 2);
    // Black could take on e3 the first time, not later.
    end_after("4k1n1/8/8/8/3p4/8/4P3/4K1N1 w - - 0 1", "e2e4 g8f6 g1f3 f6g8 f3g1");
    assert_int_equal(game_repetitions(&game), 1);
}

static void fifty_moves_without_progress_are_a_draw_but_mate_stands_over_it(void **state) {
    (void)state;
    assert_int_equal(end_after("7k/8/8/8/8/8/R7/K7 w - - 98 90", "a2b2"), END_NONE);
    assert_int_equal(end_after("7k/8/8/8/8/8/R7/K7 w - - 99 90", "a2b2"), END_FIFTY_MOVES);
    assert_int_equal(end_after("6k1/5ppp/8/8/8/8/8/R6K w - - 99 90", "a1a8"), END_CHECKMATE);
    assert_int_equal(end_after("6k1/5ppp/8/8/8/8/5P2/R6K w - - 99 90", "f2f3"), END_NONE);
}

typedef struct Material {
    const char *fen;
    bool dead, white_can_win, black_can_win;
} Material;

static const Material materials[] = {
    {"4k3/8/8/8/8/8/8/4K3 w - - 0 1", true, false, false},
    {"4k3/8/8/8/8/8/8/4KN2 w - - 0 1", true, false, false},
    {"4k3/8/8/8/8/8/8/4KB2 w - - 0 1", true, false, false},
    {"4kb2/8/8/8/8/8/8/2B1K3 w - - 0 1", true, false, false}, // both on dark squares
    {"2b1k3/8/8/8/8/8/8/2B1K3 w - - 0 1", false, true, true}, // one on each colour
    {"4k3/8/8/8/8/4B3/3B4/2B1KB2 w - - 0 1", false, true, false},
    {"4k3/8/8/8/8/B7/8/2B1K3 w - - 0 1", true, false, false},
    {"4k3/8/8/8/8/8/8/3NKN2 w - - 0 1", false, true, false},
    {"4kn2/8/8/8/8/8/8/4KN2 w - - 0 1", false, true, true},
    {"4kn2/8/8/8/8/8/8/4KB2 w - - 0 1", false, true, true},
    {"4kq2/8/8/8/8/8/8/4KN2 w - - 0 1", false, false, true},
    {"4kr2/8/8/8/8/8/8/4KN2 w - - 0 1", false, true, true},
    {"4kr2/8/8/8/8/8/8/4KB2 w - - 0 1", false, false, true},
    {"4k3/p7/8/8/8/8/8/4K3 w - - 0 1", false, false, true},
    {"4k3/p7/8/8/8/8/8/4KB2 w - - 0 1", false, true, true},
};

static void dead_material_is_a_draw_and_a_bare_king_never_wins(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof materials / sizeof *materials; i++) {
        const Material *m = &materials[i];
        bool dead = end_after(m->fen, "") == END_INSUFFICIENT_MATERIAL;
        if (dead != m->dead || position_can_win(&game.now, WHITE) != m->white_can_win ||
            position_can_win(&game.now, BLACK) != m->black_can_win)
            fail_msg("%s", m->fen);
    }
}

static void a_game_of_the_greatest_length_is_a_draw(void **state) {
    (void)state;
    Position start = position_of("1r5k/8/8/8/8/8/8/K5R1 w - - 0 1");
    game_init(&game, &start);
    while (game.plies < GAME_PLIES_MAX)
        game_play(&game, move_from_uci(&game.now, (const char *const[]){"a1a2", "h8h7", "a2a1",
                                                                        "h7h8"}[game.plies % 4]));
    assert_int_equal(game_repetitions(&game), GAME_PLIES_MAX / 4 + 1);
    game.now.rule50 = 0;
    assert_int_equal(game_end(&game), END_TOO_LONG);
    assert_int_equal(game_result(&game, END_TOO_LONG), RESULT_DRAW);
}

static void ends_and_results_have_words(void **state) {
    (void)state;
    assert_string_equal(game_result_text(RESULT_DRAW), "1/2-1/2");
    assert_string_equal(game_result_text(RESULT_NONE), "*");
    assert_string_equal(game_end_text(END_CHECKMATE), "checkmate");
    assert_string_equal(game_end_text(END_THREEFOLD), "threefold repetition");
    assert_int_equal(game_result(&game, END_NONE), RESULT_NONE);
}

int main(void) {
    rules_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mate_is_won_by_the_side_that_gave_it),
        cmocka_unit_test(no_move_and_no_check_is_stalemate),
        cmocka_unit_test(the_third_time_a_position_stands_it_is_a_draw),
        cmocka_unit_test(positions_with_other_rights_are_not_the_same),
        cmocka_unit_test(a_passed_square_counts_only_where_it_can_be_taken),
        cmocka_unit_test(fifty_moves_without_progress_are_a_draw_but_mate_stands_over_it),
        cmocka_unit_test(dead_material_is_a_draw_and_a_bare_king_never_wins),
        cmocka_unit_test(a_game_of_the_greatest_length_is_a_draw),
        cmocka_unit_test(ends_and_results_have_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

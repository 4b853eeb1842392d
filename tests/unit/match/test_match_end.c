// The words and results with which games end (worker/match/game_end.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/rules/notation.h"
#include "worker/match/game_end.h"

static GameRecord record;

static void stand(const char *fen) {
    Position pos;
    Refusal err;
    assert_true(position_from_fen(&pos, fen, false, &err));
    record = (GameRecord){.culprit = -1, .white = 1};
    game_init(&record.game, &pos);
}

static void a_fault_names_color_and_player(void **state) {
    (void)state;
    stand(POSITION_START_FEN);
    end_by_fault(&record, WHITE, GAME_END_CRASH, " disconnects", NULL);
    assert_string_equal(record.reason, "White disconnects");
    assert_int_equal(record.result, RESULT_BLACK_WINS);
    assert_int_equal(record.culprit, 1);
    end_by_fault(&record, BLACK, GAME_END_STALL, "'s connection stalls", NULL);
    assert_string_equal(record.reason, "Black's connection stalls");
    assert_int_equal(record.result, RESULT_WHITE_WINS);
    assert_int_equal(record.culprit, 0);
}

static void a_limit_that_was_passed_stands_behind_the_fault(void **state) {
    (void)state;
    stand(POSITION_START_FEN);
    end_by_fault(&record, WHITE, GAME_END_CRASH, " disconnects",
                 "used more than 512 MiB of memory");
    assert_string_equal(record.reason, "White disconnects (it used more than 512 MiB of memory)");
    end_by_flag(&record, BLACK, "started more than 64 processes");
    assert_string_equal(record.reason, "Black loses on time (it started more than 64 processes)");
}

// Who could not mate by any series of moves does not win on time.
static void a_fallen_flag_loses_unless_the_other_side_cannot_mate(void **state) {
    (void)state;
    static const struct {
        const char *fen; // Black's flag falls
        GameResult result;
    } cases[] = {
        {"q3k3/8/8/8/8/8/8/4K3 b - - 0 1", RESULT_DRAW},         // bare king
        {"q3k3/8/8/8/8/8/8/3BK3 b - - 0 1", RESULT_DRAW},        // bishop, nothing in the way
        {"q3k3/8/8/8/8/8/8/3NK3 b - - 0 1", RESULT_DRAW},        // knight against queen
        {"r3k3/8/8/8/8/8/8/3NK3 b - - 0 1", RESULT_WHITE_WINS},  // a rook may smother
        {"4k3/4p3/8/8/8/8/8/3BK3 b - - 0 1", RESULT_WHITE_WINS}, // so may a pawn
        {"4k3/8/8/8/8/8/8/2NNK3 b - - 0 1", RESULT_WHITE_WINS},  // two knights can, with help
        {"4k3/8/8/8/8/8/4P3/4K3 b - - 0 1", RESULT_WHITE_WINS},  // pawns become queens
        {"4k3/8/8/8/8/8/8/3BBK2 b - - 0 1", RESULT_WHITE_WINS},  // bishops of both colours
        {"4k3/8/8/8/8/8/8/2B1B1K1 b - - 0 1", RESULT_DRAW},      // of one
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        stand(cases[i].fen);
        end_by_flag(&record, BLACK, NULL);
        assert_int_equal(record.result, cases[i].result);
        assert_int_equal(record.kind, GAME_END_TIME);
        assert_int_equal(record.culprit, 0);
        assert_string_equal(record.reason, cases[i].result == RESULT_DRAW
                                               ? "Draw: Black ran out of time, White cannot mate"
                                               : "Black loses on time");
    }
}

static void play(const char *moves) {
    char word[MOVE_TEXT_MAX];
    for (int used; sscanf(moves, " %15s%n", word, &used) == 1; moves += used)
        game_play(&record.game, move_from_uci(&record.game.now, word));
}

// Ends as fastchess and cutechess document them; mate stands over fifty moves.
static void rules_end_games_with_the_words_of_other_runners(void **state) {
    (void)state;
    static const struct {
        const char *fen, *moves, *reason;
        GameResult result;
    } cases[] = {
        {POSITION_START_FEN, "f2f3 e7e5 g2g4 d8h4", "Black mates", RESULT_BLACK_WINS},
        {"7k/8/6K1/8/8/8/8/R7 w - - 99 90", "a1a8", "White mates", RESULT_WHITE_WINS},
        {"7k/8/6K1/8/8/8/8/R7 w - - 99 90", "a1a2", "Draw by fifty moves rule", RESULT_DRAW},
        {"7k/8/6K1/8/8/8/8/R7 w - - 99 90", "a1f1", "Draw by fifty moves rule", RESULT_DRAW},
        {"7k/8/5K2/8/8/8/8/6R1 w - - 0 1", "f6f7 h8h7 g1g5 h7h8 g5g6", "", RESULT_NONE},
        {"7k/8/8/6Q1/8/8/8/K7 w - - 0 1", "g5g6", "Draw by stalemate", RESULT_DRAW},
        {POSITION_START_FEN, "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8", "Draw by 3-fold repetition",
         RESULT_DRAW},
        {"7k/8/8/8/8/8/1r6/K7 w - - 0 1", "a1b2", "Draw by insufficient mating material",
         RESULT_DRAW},
        {"7k/8/8/8/8/8/1r6/K1N5 w - - 0 1", "a1b2", "Draw by insufficient mating material",
         RESULT_DRAW},
        {"7k/8/8/8/8/8/1r6/K1NN4 w - - 0 1", "a1b2", "", RESULT_NONE},
        {"4b2k/8/8/8/8/8/1r6/K1B5 w - - 0 1", "a1b2", "", RESULT_NONE},
        {"3b3k/8/8/8/8/8/1r6/K1B5 w - - 0 1", "a1b2", "Draw by insufficient mating material",
         RESULT_DRAW},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        stand(cases[i].fen);
        play(cases[i].moves);
        GameEnd end = game_end(&record.game);
        if (end != END_NONE)
            end_by_rule(&record, end);
        assert_string_equal(record.reason, cases[i].reason);
        assert_int_equal(record.result, cases[i].result);
        assert_int_equal(record.culprit, -1);
    }
}

static void adjudicated_games_say_so(void **state) {
    (void)state;
    stand(POSITION_START_FEN);
    end_by_decision(&record, DECISION_RESIGNS, WHITE);
    assert_string_equal(record.reason, "Black wins by adjudication");
    assert_int_equal(record.result, RESULT_BLACK_WINS);
    end_by_decision(&record, DECISION_DRAW, WHITE);
    assert_string_equal(record.reason, "Draw by adjudication");
    end_by_decision(&record, DECISION_TOO_LONG, BLACK);
    assert_string_equal(record.reason, "Draw by adjudication: maximum length");
    assert_int_equal(record.result, RESULT_DRAW);
}

int main(void) {
    rules_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fault_names_color_and_player),
        cmocka_unit_test(a_limit_that_was_passed_stands_behind_the_fault),
        cmocka_unit_test(a_fallen_flag_loses_unless_the_other_side_cannot_mate),
        cmocka_unit_test(rules_end_games_with_the_words_of_other_runners),
        cmocka_unit_test(adjudicated_games_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

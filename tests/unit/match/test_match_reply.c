// What an engine's lines are read as (worker/uci/uci_reply.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "worker/uci/uci_reply.h"

static UciKind kind(const char *line) {
    return uci_kind(line, strlen(line));
}

static UciInfo info(const char *line) {
    UciInfo out;
    uci_read_info(line, strlen(line), &out);
    return out;
}

static void first_word_decides_what_a_line_is(void **state) {
    (void)state;
    assert_int_equal(kind("bestmove e2e4"), UCI_BESTMOVE);
    assert_int_equal(kind("  bestmove\te2e4\r"), UCI_BESTMOVE);
    assert_int_equal(kind("bestmoves e2e4"), UCI_OTHER);
    assert_int_equal(kind("xbestmove e2e4"), UCI_OTHER);
    assert_int_equal(kind("uciok\r"), UCI_UCIOK);
    assert_int_equal(kind("readyok"), UCI_READYOK);
    assert_int_equal(kind("option name Hash type spin"), UCI_OPTION);
    assert_int_equal(kind(""), UCI_OTHER);
    assert_int_equal(kind("info string score"), UCI_OTHER_INFO);
}

static void exact_scores_of_the_first_line_stand_out(void **state) {
    (void)state;
    assert_int_equal(kind("info depth 3 score cp 12 nodes 5"), UCI_SCORE);
    assert_int_equal(kind("info depth 3 score cp 12 lowerbound nodes 5"), UCI_BOUND);
    assert_int_equal(kind("info depth 3 score mate 3 upperbound"), UCI_BOUND);
    assert_int_equal(kind("info depth 3 multipv 1 score cp 12"), UCI_SCORE);
    assert_int_equal(kind("info depth 3 multipv 2 score cp 12"), UCI_OTHER_INFO);
    assert_int_equal(kind("info depth 3 multipv 12 score cp 12"), UCI_OTHER_INFO);
}

static void bytes_that_are_no_text_count_as_blanks(void **state) {
    (void)state;
    char move[UCI_WORD_MAX];
    assert_int_equal(uci_kind("\0bestmove\0e2e4\0", 15), UCI_BESTMOVE);
    uci_read_bestmove("\0bestmove\0e2e4\0", 15, move);
    assert_string_equal(move, "e2e4");
    uci_read_bestmove("bestmove \xff\x80\x7f", 12, move);
    assert_string_equal(move, "???");
}

static void a_move_is_cut_to_fit_and_may_be_missing(void **state) {
    (void)state;
    char move[UCI_WORD_MAX];
    uci_read_bestmove("bestmove", 8, move);
    assert_string_equal(move, "");
    uci_read_bestmove("bestmove ", 9, move);
    assert_string_equal(move, "");
    uci_read_bestmove("bestmove e7e8q ponder a7a6", 26, move);
    assert_string_equal(move, "e7e8q");
    uci_read_bestmove("bestmove abcdefghijklmnopqrstuvw", 32, move);
    assert_string_equal(move, "abcdefghijklmno");
}

static void depth_score_and_nodes_are_found_in_any_order(void **state) {
    (void)state;
    UciInfo got = info("info nodes 123456789012 pv e2e4 e7e5 score cp -35 depth 21 seldepth 30");
    assert_int_equal(got.depth, 21);
    assert_int_equal(got.score_cp, -35);
    assert_true(got.nodes == 123456789012);
    assert_int_equal(info("info depth 4").score_cp, UCI_SCORE_NONE);
    assert_int_equal(info("").score_cp, UCI_SCORE_NONE);
    assert_int_equal(info("info string score cp 3").score_cp, UCI_SCORE_NONE);
    assert_int_equal(info("info score").score_cp, UCI_SCORE_NONE);
    assert_int_equal(info("info score cp").score_cp, UCI_SCORE_NONE);
}

static void mates_are_counted_in_plies(void **state) {
    (void)state;
    assert_int_equal(info("info score mate 1").score_cp, UCI_SCORE_MATE - 1);
    assert_int_equal(info("info score mate 3").score_cp, UCI_SCORE_MATE - 5);
    assert_int_equal(info("info score mate -2").score_cp, -UCI_SCORE_MATE + 4);
    assert_int_equal(info("info score mate 0").score_cp, -UCI_SCORE_MATE);
    assert_true(uci_score_is_mate(info("info score mate 99999999999").score_cp));
    assert_true(uci_score_is_mate(info("info score mate -99999999999").score_cp));
}

static void numbers_too_large_are_cut(void **state) {
    (void)state;
    assert_int_equal(info("info score cp 99999999999999999999999").score_cp, UCI_SCORE_CP_MAX);
    assert_int_equal(info("info score cp -99999999999999999999999").score_cp, -UCI_SCORE_CP_MAX);
    assert_false(uci_score_is_mate(UCI_SCORE_CP_MAX));
    assert_false(uci_score_is_mate(-UCI_SCORE_CP_MAX));
    assert_false(uci_score_is_mate(UCI_SCORE_NONE));
    assert_true(info("info nodes 99999999999999999999999").nodes > 0);
    assert_true(info("info depth 99999999999999999999999").depth > 0);
}

static void option_names_are_compared_whole(void **state) {
    (void)state;
    static const char line[] = "option name Skill Level type spin default 20";
    assert_true(uci_option_is(line, strlen(line), "Skill Level"));
    assert_true(uci_option_is(line, strlen(line), "skill level"));
    assert_false(uci_option_is(line, strlen(line), "Skill"));
    assert_false(uci_option_is(line, strlen(line), "Skill Level type"));
    assert_false(uci_option_is("option", 6, "Hash"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_word_decides_what_a_line_is),
        cmocka_unit_test(exact_scores_of_the_first_line_stand_out),
        cmocka_unit_test(bytes_that_are_no_text_count_as_blanks),
        cmocka_unit_test(a_move_is_cut_to_fit_and_may_be_missing),
        cmocka_unit_test(depth_score_and_nodes_are_found_in_any_order),
        cmocka_unit_test(mates_are_counted_in_plies),
        cmocka_unit_test(numbers_too_large_are_cut),
        cmocka_unit_test(option_names_are_compared_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

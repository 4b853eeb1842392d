// Move generation against the slow rules of naive_rules.h, and its functions against each other.

#include <stdlib.h>

#include "engine/rules/pgn.h"
#include "tests/unit/rules/naive_rules.h"
#include "tests/unit/rules/rules_kit.h"

enum { SLOW_NODES_MAX = 60000 };

static void check_own_line(const char *line) {
    const char *ops;
    Position pos;
    Refusal err;
    assert_true(epd_read(line, false, &pos, &ops, &err));
    Naive slow = naive_from_fen(line);
    for (int depth = 1; depth <= 9; depth++) {
        char name[3] = {'D', (char)('0' + depth), '\0'}, text[24];
        if (!epd_operation(ops, name, text, sizeof text))
            break;
        uint64_t held = strtoull(text, NULL, 10);
        if (perft(&pos, depth) != held)
            fail_msg("depth %d: %s", depth, line);
        if (held <= SLOW_NODES_MAX && naive_perft(&slow, depth) != held)
            fail_msg("slow rules at depth %d: %s", depth, line);
    }
}

static void own_positions_have_the_counts_that_slow_rules_find(void **state) {
    (void)state;
    FILE *file = fopen("tests/data/perft/own.epd", "r");
    char line[512];
    int lines = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (line[0] != '#') {
            check_own_line(line);
            lines++;
        }
    fclose(file);
    assert_true(lines >= 30);
}

static void compare_with_slow_rules(Position *pos) {
    char fen[FEN_MAX];
    Naive slow = naive_from_fen(position_to_fen(pos, fen));
    if (perft(pos, 2) != naive_perft(&slow, 2))
        fail_msg("%s", fen);
}

static void random_play_meets_no_position_where_slow_rules_differ(void **state) {
    (void)state;
    random_walks(150, compare_with_slow_rules);
}

static bool list_has(const MoveList *list, Move move) {
    for (int i = 0; i < list->size; i++)
        if (list->moves[i] == move)
            return true;
    return false;
}

static void check_partition(Position *pos) {
    MoveList all, captures, quiets;
    movegen_legal(pos, &all);
    movegen_captures(pos, &captures);
    movegen_quiets(pos, &quiets);
    assert_int_equal(captures.size + quiets.size, all.size);
    for (int i = 0; i < all.size; i++) {
        Move m = all.moves[i];
        bool queen = move_kind(m) == MOVE_PROMOTION && move_promotion(m) == QUEEN;
        bool noisy = move_is_capture(pos, m) || queen;
        assert_true(list_has(&captures, m) == noisy);
        assert_true(list_has(&quiets, m) == !noisy);
    }
}

static void captures_and_quiets_share_out_all_moves(void **state) {
    (void)state;
    random_walks(400, check_partition);
}

static void check_legality(Position *pos) {
    static bool listed[1 << 16];
    MoveList all;
    movegen_legal(pos, &all);
    memset(listed, 0, sizeof listed);
    for (int i = 0; i < all.size; i++)
        listed[all.moves[i]] = true;
    for (int bits = 0; bits < 1 << 16; bits++)
        if (move_is_legal(pos, (Move)bits) != listed[bits])
            fail_msg("%x", (unsigned)bits);
}

static void of_all_16_bit_words_only_listed_moves_are_legal(void **state) {
    (void)state;
    random_walks(60, check_legality);
}

static void check_checks(Position *pos) {
    MoveList all;
    movegen_legal(pos, &all);
    for (int i = 0; i < all.size; i++) {
        Undo undo;
        bool foretold = move_gives_check(pos, all.moves[i]);
        position_make(pos, all.moves[i], &undo);
        bool check = pos->checkers != 0;
        position_unmake(pos, all.moves[i], &undo);
        assert_true(foretold == check);
    }
}

static void checks_are_foretold(void **state) {
    (void)state;
    random_walks(400, check_checks);
    Position castling_check = position_of("5k2/8/8/8/8/8/8/4K2R w K - 0 1");
    check_checks(&castling_check);
    Position en_passant_check = position_of("8/8/8/R2pP2k/8/8/8/4K3 w - d6 0 1");
    check_checks(&en_passant_check);
    assert_int_equal(en_passant_check.en_passant, 43);
}

static void the_position_with_most_moves_has_218(void **state) {
    (void)state;
    Position pos = position_of("R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1");
    assert_int_equal(perft(&pos, 1), 218);
}

static void perft_of_the_start_position_is_exact(void **state) {
    (void)state;
    Position pos = position_of(POSITION_START_FEN);
    assert_int_equal(perft(&pos, 0), 1);
    assert_int_equal(perft(&pos, 4), 197281);
}

int main(void) {
    rules_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(perft_of_the_start_position_is_exact),
        cmocka_unit_test(own_positions_have_the_counts_that_slow_rules_find),
        cmocka_unit_test(random_play_meets_no_position_where_slow_rules_differ),
        cmocka_unit_test(captures_and_quiets_share_out_all_moves),
        cmocka_unit_test(of_all_16_bit_words_only_listed_moves_are_legal),
        cmocka_unit_test(checks_are_foretold),
        cmocka_unit_test(the_position_with_most_moves_has_218),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

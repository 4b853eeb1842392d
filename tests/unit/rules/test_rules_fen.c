// FEN: what is read, what is written, and what is refused with which words.

#include "tests/unit/rules/rules_kit.h"

static void check_round_trip(const char *fen, const char *expected) {
    char out[FEN_MAX];
    Position pos = position_of(fen);
    assert_string_equal(position_to_fen(&pos, out), expected);
}

static void fens_come_back_as_they_went_in(void **state) {
    (void)state;
    static const char *const fens[] = {
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "8/8/8/K2pP3/8/8/8/7k w - d6 0 9",
        "r3k2r/8/8/8/8/8/8/R3K2R b Kq - 99 120",
        "1r2k1r1/pbpppppp/8/8/8/8/PBPPPPPP/1R2K1R1 w GBgb - 3 7",
        "1rk3r1/8/8/8/8/8/8/RRK3RR b HBg - 0 1",
    };
    for (size_t i = 0; i < sizeof fens / sizeof *fens; i++)
        check_round_trip(fens[i], fens[i]);
}

static void missing_counters_are_0_and_1(void **state) {
    (void)state;
    check_round_trip("4k3/8/8/8/8/8/8/4K3 w - -", "4k3/8/8/8/8/8/8/4K3 w - - 0 1");
    check_round_trip("4k3/8/8/8/8/8/8/4K3 w - - 12", "4k3/8/8/8/8/8/8/4K3 w - - 12 1");
    check_round_trip(" 4k3/8/8/8/8/8/8/4K3  w - - 12 0\n", "4k3/8/8/8/8/8/8/4K3 w - - 12 1");
}

static void x_fen_letters_mean_the_outermost_rook(void **state) {
    (void)state;
    check_round_trip("1r1k2rr/8/8/8/8/8/8/R1RK2R1 w KQkq - 0 1",
                     "1r1k2rr/8/8/8/8/8/8/R1RK2R1 w GAhb - 0 1");
}

static void shredder_letters_in_a_classical_position_stay_classical(void **state) {
    (void)state;
    Position pos = position_of("r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1");
    assert_false(pos.chess960);
    check_round_trip("r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1",
                     "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
}

static void rooks_or_kings_off_their_classical_squares_mean_chess960(void **state) {
    (void)state;
    assert_true(position_of("4k3/8/8/8/8/8/8/1R2K3 w B - 0 1").chess960);
    assert_true(position_of("4k3/8/8/8/8/8/8/R2K3R w KQ - 0 1").chess960);
    assert_false(position_of("4k3/8/8/8/8/8/8/R2K3R w - - 0 1").chess960);
}

static void the_chess960_argument_asks_for_shredder_letters(void **state) {
    (void)state;
    Position pos;
    Refusal err;
    char out[FEN_MAX];
    assert_true(position_from_fen(&pos, POSITION_START_FEN, true, &err));
    assert_string_equal(position_to_fen(&pos, out),
                        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha - 0 1");
}

static void en_passant_squares_without_a_legal_capture_are_dropped(void **state) {
    (void)state;
    assert_int_equal(
        position_of("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1").en_passant,
        SQUARE_NONE);
    // The capture would bare the king to the rook.
    assert_int_equal(position_of("8/8/8/K2pP2r/8/8/8/7k w - d6 0 1").en_passant, SQUARE_NONE);
    assert_int_equal(position_of("8/8/8/K2pP3/7r/8/8/7k w - d6 0 1").en_passant, 43);
}

typedef struct RefusedFen {
    const char *fen, *message;
} RefusedFen;

static const RefusedFen refusals[] = {
    {"", "the board ends on rank 8 after 0 squares"},
    {"8/8/8/8/8/8/8/7 w - - 0 1", "the board ends on rank 1 after 7 squares"},
    {"k7/8/8/8/8/8/8/6K w - - 0 1", "the board ends on rank 1 after 7 squares"},
    {"k8/8/8/8/8/8/8/7K w - - 0 1", "rank 8 has more than 8 squares"},
    {"k7/ppppppppp/8/8/8/8/8/7K w - - 0 1", "rank 7 has more than 8 squares"},
    {"k7/8/8/7/8/8/8/7K w - - 0 1", "rank 5 has 7 squares instead of 8"},
    {"k7/8/8/8/8/8/8/7K/8 w - - 0 1", "the board has more than 8 ranks"},
    {"k7/8/8/x7/8/8/8/7K w - - 0 1", "'x' on rank 5 is no piece"},
    {"k7/8/8/9/8/8/8/7K w - - 0 1", "'9' on rank 5 is no piece"},
    {"k7/8/8/8/8/8/8/7K", "side to move is '' instead of w or b"},
    {"k7/8/8/8/8/8/8/7K white - - 0 1", "side to move is 'white' instead of w or b"},
    {"8/8/8/8/8/8/8/7K w - - 0 1", "black has 0 kings"},
    {"k7/8/8/8/8/8/8/6KK w - - 0 1", "white has 2 kings"},
    {"k7/8/8/8/8/8/8/P6K w - - 0 1", "a pawn stands on rank 1"},
    {"k6p/8/8/8/8/8/8/7K w - - 0 1", "a pawn stands on rank 8"},
    {"k7/8/8/8/QQQQQQQQ/8/QQ6/7K b - - 0 1", "white has 9 pawns and promoted pieces, more than 8"},
    {"k7/8/8/8/8/8/8/7K w", "castling rights are missing"},
    {"k7/8/8/8/8/8/8/7K w x - 0 1", "'x' is no castling right"},
    {"4k3/8/8/8/8/8/8/4K3 w K - 0 1", "castling right 'K' has no rook"},
    {"4k3/8/8/8/8/8/8/R3K3 w B - 0 1", "castling right 'B' has no rook"},
    {"4k3/8/8/8/8/8/4K3/R6R w K - 0 1",
     "castling right 'K', but the white king is not on its rank"},
    {"4k3/8/8/8/8/8/8/R3K2R w KH - 0 1", "castling right 'H' is given twice"},
    {"k7/8/8/8/8/8/8/7K w -  ", "en passant square is '' instead of a square or -"},
    {"k7/8/8/8/8/8/8/7K w - i6 0 1", "en passant square is 'i6' instead of a square or -"},
    {"k7/8/8/8/8/8/8/7K w - e3 0 1", "en passant square e3 is on the wrong rank"},
    {"k7/8/8/8/8/8/8/7K w - e6 0 1", "no pawn can just have passed en passant square e6"},
    {"k7/4n3/8/4p3/8/8/8/7K w - e6 0 1", "no pawn can just have passed en passant square e6"},
    {"k7/8/8/8/8/8/8/7K w - - x 1", "halfmove clock has 'x' instead of a digit"},
    {"k7/8/8/8/8/8/8/7K w - - 256 1", "halfmove clock is over 255"},
    {"k7/8/8/8/8/8/8/7K w - - 0 99999999999", "move number is over 9999"},
    {"k7/8/8/8/8/8/8/7K w - - 0 1 z", "text after the last field: 'z'"},
    {"k7/8/8/8/8/8/8/R6K w - - 0 1", "black is in check, and it is white's turn"},
    {"k7/8/8/8/8/8/6k1/7K w - - 0 1", "black has 2 kings"},
    {"8/8/8/8/8/8/6k1/7K w - - 0 1", "black is in check, and it is white's turn"},
    {"k3r3/8/8/8/1b5b/8/8/4K3 w - - 0 1", "white is in check from more than two pieces"},
};

static void nonsense_is_refused_with_its_place(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        Position pos;
        Refusal err;
        if (position_from_fen(&pos, refusals[i].fen, false, &err))
            fail_msg("read: %s", refusals[i].fen);
        assert_string_equal(err.message, refusals[i].message);
    }
}

static void a_text_longer_than_any_fen_is_refused(void **state) {
    (void)state;
    char text[4096];
    Position pos;
    Refusal err;
    memset(text, ' ', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_false(position_from_fen(&pos, text, false, &err));
    assert_string_equal(err.message, "the FEN is longer than 127 bytes");
    assert_false(position_from_fen(&pos, text, false, NULL));
}

int main(void) {
    rules_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fens_come_back_as_they_went_in),
        cmocka_unit_test(missing_counters_are_0_and_1),
        cmocka_unit_test(x_fen_letters_mean_the_outermost_rook),
        cmocka_unit_test(shredder_letters_in_a_classical_position_stay_classical),
        cmocka_unit_test(rooks_or_kings_off_their_classical_squares_mean_chess960),
        cmocka_unit_test(the_chess960_argument_asks_for_shredder_letters),
        cmocka_unit_test(en_passant_squares_without_a_legal_capture_are_dropped),
        cmocka_unit_test(nonsense_is_refused_with_its_place),
        cmocka_unit_test(a_text_longer_than_any_fen_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Moves as text: UCI and SAN, written, read back, and read leniently.

#include "engine/rules/notation.h"
#include "tests/unit/rules/rules_kit.h"

static Move uci(const Position *pos, const char *text) {
    return move_from_uci(pos, text);
}

static void check_texts(Position *pos) {
    MoveList list;
    char text[MOVE_TEXT_MAX], seen[MOVES_MAX][MOVE_TEXT_MAX];
    movegen_legal(pos, &list);
    for (int i = 0; i < list.size; i++) {
        assert_int_equal(uci(pos, move_to_uci(pos, list.moves[i], text)), list.moves[i]);
        assert_int_equal(move_from_san(pos, move_to_san(pos, list.moves[i], text)), list.moves[i]);
        memcpy(seen[i], text, sizeof text);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(seen[j], text);
    }
}

static void every_move_of_random_play_reads_as_it_was_written(void **state) {
    (void)state;
    random_walks(250, check_texts);
}

// Every word of two squares, with and without a promotion.
static void check_words(Position *pos) {
    MoveList list;
    movegen_legal(pos, &list);
    for (int i = 0; i < SQUARE_NB * SQUARE_NB; i++) {
        int from = i % SQUARE_NB, to = i / SQUARE_NB, legal = 0;
        char text[MOVE_TEXT_MAX] = {(char)('a' + from % 8), (char)('1' + from / 8),
                                    (char)('a' + to % 8), (char)('1' + to / 8), to % 2 ? 'q' : 0};
        Move move = uci(pos, text);
        for (int j = 0; j < list.size; j++)
            legal += list.moves[j] == move;
        assert_int_equal(legal, move != MOVE_NONE);
    }
}

static void what_reads_as_a_move_is_legal(void **state) {
    (void)state;
    random_walks(40, check_words);
}

static void castling_is_written_by_the_kings_target_in_classical_chess(void **state) {
    (void)state;
    char text[MOVE_TEXT_MAX];
    Position pos = position_of("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
    Move short_castling = move_make_kind(E1, H1, MOVE_CASTLING);
    assert_string_equal(move_to_uci(&pos, short_castling, text), "e1g1");
    assert_int_equal(uci(&pos, "e1g1"), short_castling);
    assert_int_equal(uci(&pos, "e1h1"), short_castling);
    assert_int_equal(uci(&pos, "e1c1"), move_make_kind(E1, A1, MOVE_CASTLING));
}

static void castling_is_king_takes_rook_in_chess960(void **state) {
    (void)state;
    char text[MOVE_TEXT_MAX];
    Position pos = position_of("4k3/8/8/8/8/8/8/R4KR1 w GA - 0 1");
    Move short_castling = move_make_kind(F1, G1, MOVE_CASTLING);
    assert_string_equal(move_to_uci(&pos, short_castling, text), "f1g1");
    assert_int_equal(uci(&pos, "f1g1"), short_castling);
    assert_int_equal(uci(&pos, "f1c1"), move_make_kind(F1, A1, MOVE_CASTLING));
    // Where the king could also just walk, e1g1 style names the walk.
    Position walk = position_of("4k3/8/8/8/8/8/8/5K1R w H - 0 1");
    assert_int_equal(uci(&walk, "f1g1"), move_make(F1, G1));
    assert_int_equal(uci(&walk, "f1h1"), move_make_kind(F1, H1, MOVE_CASTLING));
}

static void what_is_no_legal_uci_move_reads_as_none(void **state) {
    (void)state;
    static const char *const texts[] = {"",      "e2",    "e2e5", "e2e9", "e7e5",       "0000",
                                        "e2e4q", "e2e4 ", "i2i4", "E2E4", "e2e4e2e4e2", "a1a1"};
    Position pos = position_of(POSITION_START_FEN);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(uci(&pos, texts[i]), MOVE_NONE);
    Position promotion = position_of("8/P6k/8/8/8/8/8/K7 w - - 0 1");
    assert_int_equal(uci(&promotion, "a7a8"), MOVE_NONE);
    assert_int_equal(uci(&promotion, "a7a8k"), MOVE_NONE);
    assert_int_equal(uci(&promotion, "a7a8n"), move_make_promotion(48, 56, KNIGHT));
    char text[MOVE_TEXT_MAX];
    assert_string_equal(move_to_uci(&pos, MOVE_NONE, text), "0000");
}

typedef struct SanCase {
    const char *fen, *uci, *san;
} SanCase;

static const SanCase san_cases[] = {
    {"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "g1f3", "Nf3"},
    {"4k3/8/8/8/8/8/3p4/1N2KN2 w - - 0 1", "b1d2", "Nbxd2"},
    {"4k3/8/8/1N6/8/8/8/1N2K3 w - - 0 1", "b1c3", "N1c3"},
    {"7k/8/8/8/N7/8/8/N3N2K w - - 0 1", "a1c2", "Nac2"},
    {"6k1/8/8/8/Q6Q/8/8/K6Q w - - 0 1", "h4e1", "Q4e1"},
    {"6k1/8/8/8/4Q2Q/8/8/K6Q w - - 0 1", "h4e1", "Qh4e1"},
    {"3rk3/4P3/8/8/8/8/8/4K3 w - - 0 1", "e7d8q", "exd8=Q+"},
    {"8/8/8/K2pP3/8/8/8/7k w - d6 0 1", "e5d6", "exd6"},
    {"r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "e8c8", "O-O-O"},
    {"5k2/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1", "O-O+"},
    {"6k1/5ppp/8/8/8/8/8/R6K w - - 0 1", "a1a8", "Ra8#"},
    // The second knight is pinned: no other can go there, so nothing is to be told apart.
    {"4r1k1/8/8/8/8/4N3/8/N3K3 w - - 0 1", "a1c2", "Nc2"},
};

static void san_has_the_least_that_tells_moves_apart(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof san_cases / sizeof *san_cases; i++) {
        char text[MOVE_TEXT_MAX];
        Position pos = position_of(san_cases[i].fen);
        Move move = uci(&pos, san_cases[i].uci);
        assert_int_not_equal(move, MOVE_NONE);
        assert_string_equal(move_to_san(&pos, move, text), san_cases[i].san);
        assert_int_equal(move_from_san(&pos, san_cases[i].san), move);
    }
}

static void san_is_read_leniently(void **state) {
    (void)state;
    static const SanCase cases[] = {
        {"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1", "0-0"},
        {"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1c1", "o-o-o!?"},
        {"3rk3/4P3/8/8/8/8/8/4K3 w - - 0 1", "e7d8q", "ed8Q"},
        {"3rk3/4P3/8/8/8/8/8/4K3 w - - 0 1", "e7d8b", "exd8b"},
        {"3rk3/4P3/8/8/8/8/8/4K3 w - - 0 1", "e7d8n", "e7xd8(N)!!"},
        {"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "g1f3", "Ng1-f3+"},
        {"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "e2e4", "e2-e4"},
        {"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "e2e4", "Pe4"},
        {"6k1/5ppp/8/8/8/8/8/R6K w - - 0 1", "a1a8", "Ra8"},
        {"4k3/8/8/8/8/8/3p4/1N2KN2 w - - 0 1", "b1d2", "Nbd2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Position pos = position_of(cases[i].fen);
        Move move = uci(&pos, cases[i].uci);
        assert_int_not_equal(move, MOVE_NONE);
        assert_int_equal(move_from_san(&pos, cases[i].san), move);
    }
}

static void ambiguous_or_impossible_san_reads_as_none(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",   "N", "d2",  "Nd2",  "Nxd9",  "Nbb1d2x", "O-O", "e4",
        "--", "K", "Zd2", "Nd2Q", "Nbbd2", "x",       "#",   "Kd1Kd1Kd1Kd1Kd1Kd1"};
    Position pos = position_of("4k3/8/8/8/8/8/3p4/1N2KN2 w - - 0 1");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (move_from_san(&pos, texts[i]) != MOVE_NONE)
            fail_msg("read: %s", texts[i]);
    Position promotion = position_of("8/P6k/8/8/8/8/8/K7 w - - 0 1");
    assert_int_equal(move_from_san(&promotion, "a8"), MOVE_NONE);
}

int main(void) {
    rules_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_move_of_random_play_reads_as_it_was_written),
        cmocka_unit_test(what_reads_as_a_move_is_legal),
        cmocka_unit_test(castling_is_written_by_the_kings_target_in_classical_chess),
        cmocka_unit_test(castling_is_king_takes_rook_in_chess960),
        cmocka_unit_test(what_is_no_legal_uci_move_reads_as_none),
        cmocka_unit_test(san_has_the_least_that_tells_moves_apart),
        cmocka_unit_test(san_is_read_leniently),
        cmocka_unit_test(ambiguous_or_impossible_san_reads_as_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// The engine's evaluation, exchanges and transposition table: what can be said of them without a
// search.

#include "tests/unit/engine/nnue_kit.h"

#include "engine/commands/bench_positions.h"
#include "engine/eval/eval.h"
#include "engine/search/search.h"
#include "engine/search/see.h"
#include "engine/search/tt.h"

// ---- evaluation ---------------------------------------------------------------------------------

static PawnCache *cache;

static Score eval_of(const Position *pos) {
    pawn_cache_clear(cache);
    return evaluate(pos, cache);
}

// The same position with colours exchanged; castling rights do not matter to the evaluation.
static Position flipped(const Position *pos) {
    char fen[FEN_MAX];
    int length = 0;
    for (int rank = 0; rank < 8; rank++) {
        for (int file = 0; file < 8; file++) {
            Piece p = pos->board[square_make(file, rank)];
            fen[length++] = p == NO_PIECE ? '1' : "pnbrqk??PNBRQK"[p];
        }
        fen[length++] = rank < 7 ? '/' : ' ';
    }
    snprintf(fen + length, sizeof fen - (size_t)length, "%c - - %d 1",
             pos->side == WHITE ? 'b' : 'w', pos->rule50);
    return position_of(fen);
}

// Left and right exchanged.
static Position mirrored(const Position *pos) {
    char fen[FEN_MAX];
    int length = 0;
    for (int rank = 7; rank >= 0; rank--) {
        for (int file = 7; file >= 0; file--) {
            Piece p = pos->board[square_make(file, rank)];
            fen[length++] = p == NO_PIECE ? '1' : "PNBRQK??pnbrqk"[p];
        }
        fen[length++] = rank > 0 ? '/' : ' ';
    }
    snprintf(fen + length, sizeof fen - (size_t)length, "%c - - %d 1",
             pos->side == WHITE ? 'w' : 'b', pos->rule50);
    return position_of(fen);
}

static void check_symmetry(Position *pos) {
    Position a = flipped(pos), b = mirrored(pos);
    Score score = eval_of(pos);
    assert_int_equal(eval_of(&a), score);
    assert_int_equal(eval_of(&b), score);
    assert_false(score_is_mate(score));
}

static void colours_and_wings_are_judged_alike(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof BENCH_POSITIONS / sizeof *BENCH_POSITIONS; i++) {
        Position pos = position_of(BENCH_POSITIONS[i]);
        check_symmetry(&pos);
    }
    random_walks(200, check_symmetry);
}

static void check_cached(Position *pos) {
    Score warm = evaluate(pos, cache);
    assert_int_equal(eval_of(pos), warm);
}

static void the_pawn_cache_changes_nothing(void **state) {
    (void)state;
    random_walks(200, check_cached);
}

static void a_queen_more_is_worth_much(void **state) {
    (void)state;
    Position pos = position_of("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
    assert_true(eval_of(&pos) > 700);
}

static void minor_pieces_alone_do_not_win(void **state) {
    (void)state;
    Position pos = position_of("8/8/5k2/3r4/8/4R3/4B3/4K3 w - - 0 1");
    assert_true(eval_of(&pos) < 150);
}

// ---- endgames -----------------------------------------------------------------------------------

// Scores of the side to move.
static void endgames_are_known_for_what_they_are(void **state) {
    (void)state;
    static const struct {
        const char *what, *fen;
        Score least, most;
    } cases[] = {
        {"two knights", "4k3/8/8/8/8/8/8/1NN1K3 w - - 0 1", 0, 0},
        {"two bishops of one colour", "4k3/8/8/8/8/8/8/B1B1K3 w - - 0 1", 0, 0},
        {"two bishops", "4k3/8/8/8/8/8/8/BB2K3 w - - 0 1", 1500, 5000},
        {"a queen", "4k3/8/8/8/8/8/8/3QK3 b - - 0 1", -5000, -1500},
        {"stalemate", "7k/8/6Q1/8/8/8/8/K7 b - - 0 1", 0, 0},
        {"king before its pawn", "4k3/8/4K3/4P3/8/8/8/8 b - - 0 1", -1000, -500},
        {"king before its pawn, upside down", "8/8/8/8/4p3/4k3/8/4K3 w - - 0 1", -1000, -500},
        {"opposition held", "8/8/8/4k3/8/4K3/4P3/8 b - - 0 1", -1000, -500},
        {"opposition lost", "8/8/8/4k3/8/4K3/4P3/8 w - - 0 1", 0, 0},
        {"rook pawn", "k7/8/1K6/P7/8/8/8/8 w - - 0 1", 0, 0},
        {"pawn that runs", "8/8/8/P7/8/8/8/K5k1 w - - 0 1", 500, 1000},
        {"pawn that is caught", "8/8/8/P7/3k4/8/8/K7 b - - 0 1", 0, 0},
        {"stalemated king", "4k3/4P3/4K3/8/8/8/8/8 b - - 0 1", 0, 0},
        {"the wrong bishop", "k7/8/8/P7/8/1K6/8/2B5 w - - 0 1", -80, 80},
        {"the right bishop", "k7/8/8/P7/8/1K6/8/3B4 w - - 0 1", 200, 1000},
        {"a queen near the pawn", "8/8/8/4Q3/8/K7/2p5/1k6 w - - 0 1", 400, 2000},
        {"a queen alone with the pawn", "7K/8/8/4Q3/8/8/2p5/1k6 w - - 0 1", 0, 320},
        {"a rook too far from the pawn", "8/8/8/8/8/8/R6p/K5k1 w - - 0 1", -120, 120},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Position pos = position_of(cases[i].fen);
        Score score = eval_of(&pos);
        if (score < cases[i].least || score > cases[i].most)
            fail_msg("%s: %d", cases[i].what, score);
    }
}

static Score eval_of_fen(const char *fen) {
    Position pos = position_of(fen);
    return eval_of(&pos);
}

static void the_bare_king_is_driven_to_the_mating_corner(void **state) {
    (void)state;
    // The bishop is on dark squares: a1 and h8.
    Score centre = eval_of_fen("8/8/3K4/8/4k3/8/8/B6N w - - 0 1");
    Score wrong = eval_of_fen("k7/8/1K6/8/8/8/8/B6N w - - 0 1");
    Score right = eval_of_fen("8/8/8/8/8/6K1/B7/N6k w - - 0 1"); // a light bishop
    Score right_too = eval_of_fen("7k/8/6K1/8/8/8/8/2B4N w - - 0 1");
    assert_true(wrong > centre);
    assert_true(right > wrong);
    assert_int_equal(right, right_too);
}

// Both sides play, the mate is to come before the fifty moves are over.
static void assert_bare_kings_are_mated(const Network *net) {
    static const char *const fens[] = {
        "8/8/8/3k4/8/8/8/K6R w - - 0 1",
        "8/8/8/3k4/8/8/8/K1BB4 w - - 0 1",
        "8/8/8/3k4/8/8/8/KBN5 w - - 0 1",
        "8/8/3k4/8/8/3K4/8/B6N w - - 0 1",
    };
    for (size_t i = 0; i < sizeof fens / sizeof *fens; i++) {
        Search *search = search_new(4, 1);
        search_set_network(search, net);
        Root root;
        Position pos = position_of(fens[i]);
        root_init(&root, &pos);
        SearchLimits limits = {.nodes = 10000};
        SearchResult result = {0};
        for (int ply = 0; ply < 100; ply++) {
            search_prepare(search, &root, &limits);
            result = search_run(search);
            if (result.best == MOVE_NONE)
                break;
            root_play(&root, result.best);
        }
        search_free(search);
        if (result.best != MOVE_NONE || !root.pos.checkers || root.pos.side != BLACK)
            fail_msg("%s: no mate", fens[i]);
    }
}

static void bare_kings_are_mated(void **state) {
    (void)state;
    assert_bare_kings_are_mated(NULL);
}

static void bare_kings_are_mated_whatever_a_net_says(void **state) {
    (void)state;
    Network net;
    network_fill_compact(&net, 4, 21, &usual_scale);
    assert_bare_kings_are_mated(&net);
    network_release(&net);
}

static void a_known_win_counts_in_full_as_the_fifty_moves_run_out(void **state) {
    (void)state;
    Score fresh = eval_of_fen("8/8/3k4/8/8/3K4/8/7R w - - 0 1");
    assert_int_equal(eval_of_fen("8/8/3k4/8/8/3K4/8/7R w - - 80 90"), fresh);
}

static void opposite_bishops_hide_a_pawn(void **state) {
    (void)state;
    Score same = eval_of_fen("4k3/8/3b4/8/4P3/3P4/3B4/4K3 w - - 0 1");
    Score opposite = eval_of_fen("4k3/8/4b3/8/4P3/3P4/3B4/4K3 w - - 0 1");
    assert_true(opposite < same * 3 / 4);
}

// ---- exchanges ----------------------------------------------------------------------------------

static void exchanges_come_to_what_they_come_to(void **state) {
    (void)state;
    static const struct {
        const char *fen;
        Square from, to;
        Score value;
    } cases[] = {
        {"4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", 28, 35, 100},         // a pawn for nothing
        {"4k3/8/4p3/3p4/4P3/8/8/4K3 w - - 0 1", 28, 35, 0},         // pawn for pawn
        {"4k3/8/4p3/3p4/8/8/3Q4/4K3 w - - 0 1", 11, 35, 100 - 950}, // queen for pawn
        {"3rk3/8/8/3p4/8/3R4/3R4/4K3 w - - 0 1", 19, 35, 100},      // the second rook stands behind
        {"3rk3/3r4/8/3p4/8/3R4/3R4/4K3 w - - 0 1", 19, 35, -400},   // and theirs too
        {"4k3/8/8/2n5/3P4/8/8/4K3 w - - 0 1", 27, 34, 320},         // knight for nothing
        {"4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", 36, 43, 100},         // en passant is checked below
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Position pos = position_of(cases[i].fen);
        bool en_passant = pos.en_passant == cases[i].to && pos.en_passant != SQUARE_NONE;
        Move move =
            move_make_kind(cases[i].from, cases[i].to, en_passant ? MOVE_EN_PASSANT : MOVE_NORMAL);
        assert_true(move_is_legal(&pos, move));
        assert_true(see_at_least(&pos, move, cases[i].value));
        assert_false(see_at_least(&pos, move, cases[i].value + 1));
    }
}

static void castling_and_quiet_moves_take_nothing(void **state) {
    (void)state;
    Position pos = position_of("4k3/8/8/8/8/8/8/4K2R w K - 0 1");
    Move castling = move_make_kind(4, 7, MOVE_CASTLING);
    assert_true(move_is_legal(&pos, castling));
    assert_int_equal(move_captured_type(&pos, castling), NO_PIECE_TYPE);
    assert_true(see_at_least(&pos, castling, 0));
    assert_false(see_at_least(&pos, castling, 1));
}

// ---- transposition table ------------------------------------------------------------------------

static void the_table_returns_what_was_stored(void **state) {
    (void)state;
    TT tt = {0};
    assert_true(tt_resize(&tt, 1));
    TTEntry in = {.move = 777, .score = -123, .eval = 45, .depth = 9, .bound = BOUND_LOWER}, out;
    assert_false(tt_probe(&tt, UINT64_C(0x123456789abcdef0), 3, &out));
    tt_store(&tt, UINT64_C(0x123456789abcdef0), 3, &in);
    assert_true(tt_probe(&tt, UINT64_C(0x123456789abcdef0), 7, &out));
    assert_int_equal(out.move, 777);
    assert_int_equal(out.score, -123);
    assert_int_equal(out.eval, 45);
    assert_int_equal(out.depth, 9);
    assert_int_equal(out.bound, BOUND_LOWER);
    assert_false(tt_probe(&tt, UINT64_C(0x123456789abcdef1), 3, &out));
    tt_clear(&tt);
    assert_false(tt_probe(&tt, UINT64_C(0x123456789abcdef0), 3, &out));
    tt_free(&tt);
}

static void mates_in_the_table_count_from_the_node(void **state) {
    (void)state;
    TT tt = {0};
    assert_true(tt_resize(&tt, 1));
    TTEntry in = {.score = score_mate_in(10), .eval = SCORE_NONE, .bound = BOUND_EXACT}, out;
    tt_store(&tt, 42, 4, &in); // six plies from the node
    assert_true(tt_probe(&tt, 42, 8, &out));
    assert_int_equal(out.score, score_mate_in(14));
    assert_int_equal(out.eval, SCORE_NONE);
    in.score = score_mated_in(5);
    tt_store(&tt, 42, 5, &in);
    assert_true(tt_probe(&tt, 42, 3, &out));
    assert_int_equal(out.score, score_mated_in(3));
    tt_free(&tt);
}

static void an_impossible_size_keeps_the_old_one(void **state) {
    (void)state;
    TT tt = {0};
    assert_true(tt_resize(&tt, 2));
    size_t count = tt.count;
    assert_false(tt_resize(&tt, SIZE_MAX >> 20)); // bytes enough for no machine
    assert_int_equal(tt.count, count);
    tt_free(&tt);
}

int main(void) {
    rules_init();
    eval_init();
    cache = calloc(1, sizeof *cache);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colours_and_wings_are_judged_alike),
        cmocka_unit_test(the_pawn_cache_changes_nothing),
        cmocka_unit_test(a_queen_more_is_worth_much),
        cmocka_unit_test(minor_pieces_alone_do_not_win),
        cmocka_unit_test(endgames_are_known_for_what_they_are),
        cmocka_unit_test(the_bare_king_is_driven_to_the_mating_corner),
        cmocka_unit_test(bare_kings_are_mated),
        cmocka_unit_test(bare_kings_are_mated_whatever_a_net_says),
        cmocka_unit_test(a_known_win_counts_in_full_as_the_fifty_moves_run_out),
        cmocka_unit_test(opposite_bishops_hide_a_pawn),
        cmocka_unit_test(exchanges_come_to_what_they_come_to),
        cmocka_unit_test(castling_and_quiet_moves_take_nothing),
        cmocka_unit_test(the_table_returns_what_was_stored),
        cmocka_unit_test(mates_in_the_table_count_from_the_node),
        cmocka_unit_test(an_impossible_size_keeps_the_old_one),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(cache);
    return failed;
}

// What an engine says about its moves, checked and counted (worker/match/output_check.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <unistd.h>

#include "engine/rules/notation.h"
#include "tests/kit/match_kit.h"
#include "worker/match/output_check.h"
#include "worker/uci/engine_pipe.h"

static const char *const START = POSITION_START_FEN;
static const char *const BACK_RANK = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1"; // d1d8 mates
static const char *const TWO_ROOKS = "7k/8/8/8/8/8/RR6/1K6 w - - 0 1";        // mates in two
static const char *const MATED_NEXT = "k7/8/1K6/8/8/8/8/7R b - - 0 1";        // a8b8, then h1h8
static const char *const ONLY_MOVE = "7k/8/8/8/8/8/6q1/7K w - - 0 1";         // h1g2
static const char *const BLOCKED = "8/8/8/8/8/p1k5/P7/K7 b - - 0 1";          // c3c2 stalemates

typedef struct Case {
    const char *fen, *played, *infos; // lines, separated by newlines
    SaidKind wrong;
} Case;

// Sends the lines through the real reader, as the output of a search. Its pipes are ours.
static Said count_one(const Case *c) {
    static EngineProcess engine;
    char text[9000];
    int out[2];
    Position pos;
    Refusal err;
    EngineReply reply = {0};
    assert_int_equal(pipe2(out, O_NONBLOCK), 0);
    engine = (EngineProcess){.cancel_fd = -1,
                             .read_at_ns = INT64_MAX / 2,
                             .process = {.pidfd = -1, .output = out[0], .errors = -1}};
    engine.process.input = open("/dev/null", O_WRONLY);
    assert_true(pipe_open(&engine));
    int size = snprintf(text, sizeof text, "%s\nbestmove %s\n", c->infos, c->played);
    assert_int_equal(write(out[1], text, (size_t)size), size);
    assert_int_equal(engine_go(&engine, "go\n", 3, 1000000000, &reply), ENGINE_OK);
    assert_true(position_from_fen(&pos, c->fen, false, &err));
    Move played = move_from_uci(&pos, c->played);
    assert_true(played != MOVE_NONE);
    Said said = {0};
    MoveOutput output = output_of(&engine);
    output_count(&pos, &output, played, &said);
    pipe_close(&engine);
    close(out[0]);
    close(out[1]);
    close(engine.process.input);
    return said;
}

static void check(const Case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        Said said = count_one(&cases[i]);
        assert_int_equal(said.moves, 1);
        for (int kind = 0; kind < SAID_KINDS; kind++)
            if (said.wrong[kind] != (cases[i].wrong == (SaidKind)kind))
                fail_msg("%s %s: %s: %d with %s", cases[i].fen, cases[i].played, cases[i].infos,
                         said.wrong[kind], said_words[kind]);
    }
}
#define CHECK(cases) check(cases, sizeof(cases) / sizeof *(cases))

static void a_variation_must_be_legal(void **state) {
    (void)state;
    const Case cases[] = {
        {START, "e2e4", "info depth 1 score cp 1 pv e2e4 e7e5 g1f3", SAID_KINDS},
        {START, "e2e4", "info depth 1 score cp 1 pv e2e4 e2e5", SAID_ILLEGAL_PV},
        {START, "e2e4", "info depth 1 score cp 1 pv e2e4 0000", SAID_ILLEGAL_PV},
        {START, "e2e4", "info depth 1 score cp 1 pv e4 e5", SAID_ILLEGAL_PV},
        {START, "e2e4", "info depth 1 score cp 1 lowerbound pv e2e4 e2e5", SAID_ILLEGAL_PV},
        {BACK_RANK, "d1d8", "info depth 1 score cp 1 pv d1d8 g8h8", SAID_ILLEGAL_PV}, // after mate
    };
    CHECK(cases);
}

static void a_variation_must_begin_with_the_move(void **state) {
    (void)state;
    const Case cases[] = {
        {START, "d2d4", "info depth 1 score cp 1 pv e2e4", SAID_OTHER_MOVE},
        {START, "d2d4", "info depth 1 score cp 1 pv d2d4\ninfo depth 2 score cp 1 pv e2e4",
         SAID_OTHER_MOVE},
        {START, "d2d4", "info depth 2 score cp 1 pv e2e4\ninfo depth 3 score cp 1 pv d2d4",
         SAID_KINDS},
    };
    CHECK(cases);
}

static void a_mate_must_hold(void **state) {
    (void)state;
    const Case cases[] = {
        {BACK_RANK, "d1d8", "info depth 1 score mate 1 pv d1d8", SAID_KINDS},
        {BACK_RANK, "d1d7", "info depth 1 score mate 1 pv d1d7", SAID_FALSE_MATE},
        {BACK_RANK, "d1d7", "info depth 1 score mate 1", SAID_FALSE_MATE},
        {BACK_RANK, "d1d7", "info depth 1 score mate 0", SAID_FALSE_MATE},
        {TWO_ROOKS, "a2a7", "info depth 9 score mate 2 pv a2a7 h8g8 b2b8", SAID_KINDS},
        {TWO_ROOKS, "a2a7", "info depth 9 score mate 2 pv a2a7", SAID_KINDS},
        {TWO_ROOKS, "b1c1", "info depth 9 score mate 2 pv b1c1", SAID_FALSE_MATE},
        {TWO_ROOKS, "a2a3", "info depth 9 score mate 2 pv a2a3 h8g8 a3a8", SAID_FALSE_MATE},
        {MATED_NEXT, "a8b8", "info depth 9 score mate -1 pv a8b8 h1h8", SAID_KINDS},
        {START, "f2f3", "info depth 9 score mate -1 pv f2f3", SAID_FALSE_MATE},
        {START, "f2f3", "info depth 9 score mate -2 pv f2f3 e7e5 g2g4 d8h4", SAID_KINDS},
        {START, "f2f3", "info depth 9 score mate -2 pv f2f3 e7e5 g2g4 b8c6", SAID_FALSE_MATE},
        {START, "f2f3", "info depth 9 score mate 2 pv f2f3 e7e5 g2g4 d8h4", SAID_FALSE_MATE},
        {BLOCKED, "c3c2", "info depth 9 score mate 5 pv c3c2", SAID_FALSE_MATE}, // stalemate
    };
    CHECK(cases);
}

static void a_score_and_a_depth_must_be_there(void **state) {
    (void)state;
    const Case cases[] = {
        {START, "e2e4", "info depth 1 pv e2e4", SAID_NO_SCORE},
        {START, "e2e4", "info score cp 4 pv e2e4", SAID_NO_SCORE},
        {START, "e2e4", "", SAID_NO_SCORE},
        {START, "e2e4", "info string depth 9 score cp 4 pv e2e4", SAID_NO_SCORE},
        {START, "e2e4", "info depth 1\ninfo score cp 4", SAID_KINDS},
        {ONLY_MOVE, "h1g2", "", SAID_KINDS}, // there was nothing to think about
    };
    CHECK(cases);
}

// What engines of other kinds print: none of it is wrong.
static void a_sound_engine_is_never_wrong(void **state) {
    (void)state;
    const Case cases[] = {
        {START, "e2e4", "info depth 1 score cp 1", SAID_KINDS},
        {START, "e2e4", "info depth 1 score cp 1 pv", SAID_KINDS},
        {START, "e2e4", "info pv e2e4 e7e5 score cp 1 depth 1 nodes 7", SAID_KINDS},
        {START, "e2e4", "info depth 1 score cp 1 pv e2e4 e7e5 ebf 1.7 bmc 0.2", SAID_KINDS},
        // a bound may name another move, and the move may change after the last exact score
        {START, "d2d4", "info depth 2 score cp 1 lowerbound pv e2e4", SAID_KINDS},
        {START, "d2d4",
         "info depth 2 score cp 1 pv e2e4\ninfo depth 3 score cp 9 lowerbound pv d2d4", SAID_KINDS},
        {START, "d2d4", "info depth 2 score cp 1 pv e2e4\ninfo depth 3 pv d2d4", SAID_KINDS},
        {START, "e2e4", "info depth 2 score mate 1 upperbound pv e2e4", SAID_KINDS},
        // side lines and texts
        {START, "d2d4",
         "info depth 2 multipv 1 score cp 1 pv d2d4\n"
         "info depth 2 multipv 2 score cp 0 pv e2e4",
         SAID_KINDS},
        {START, "d2d4", "info depth 2 score cp 1 pv d2d4\ninfo string the score is good pv a1a1",
         SAID_KINDS},
        {START, "d2d4", "info depth 2 score cp 1 pv d2d4 string then pv a1a1", SAID_KINDS},
        {START, "d2d4", "info depth 2 score cp 1 pv d2d4\ninfo depth 3 currmove a1a1", SAID_KINDS},
        // a variation that the hash table cut short, or that goes on after a draw
        {TWO_ROOKS, "b1c1", "info depth 9 score mate 3 pv b1c1 h8g8", SAID_KINDS},
        {TWO_ROOKS, "a2a7", "info depth 9 score mate 3 pv a2a7 h8g8 b2b8", SAID_KINDS},
        {"8/8/8/8/8/4k3/8/K6n w - - 90 99", "a1a2", "info depth 9 score cp 0 pv a1a2 e3d3 a2a1",
         SAID_KINDS},
    };
    CHECK(cases);
}

// ---- in a match ---------------------------------------------------------------------------------

static Said seen[2];

static void on_game(void *ctx, const GameRecord *game) {
    (void)ctx;
    for (int i = 0; i < 2; i++)
        said_add(&seen[i], &game->said[i]);
}

static void a_match_counts_them_for_the_engine_that_errs(void **state) {
    (void)state;
    static const struct {
        const char *mode;
        SaidKind kind;
    } cases[] = {{"wrongpv", SAID_ILLEGAL_PV},
                 {"otherpv", SAID_OTHER_MOVE},
                 {"falsemate", SAID_FALSE_MATE},
                 {"noscore", SAID_NO_SCORE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *argv[] = {kit_toy, cases[i].mode, NULL};
        MatchSpec spec = kit_match(argv);
        spec.on_game = on_game;
        memset(seen, 0, sizeof seen);
        kit_play_match(&spec);
        assert_int_equal(seen[0].moves, 10);
        assert_int_equal(seen[1].moves, 10);
        assert_int_equal(seen[0].wrong[cases[i].kind], 10);
        assert_int_equal(said_wrong(&seen[0]), 10);
        assert_int_equal(said_wrong(&seen[1]), 0);
    }
}

int main(void) {
    rules_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_variation_must_be_legal),
        cmocka_unit_test(a_variation_must_begin_with_the_move),
        cmocka_unit_test(a_mate_must_hold),
        cmocka_unit_test(a_score_and_a_depth_must_be_there),
        cmocka_unit_test(a_sound_engine_is_never_wrong),
        cmocka_unit_test(a_match_counts_them_for_the_engine_that_errs),
    };
    if (!kit_toy_found())
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

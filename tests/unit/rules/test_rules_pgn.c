// PGN and EPD: read, written, and what is done about broken ones.

#include <stdlib.h>

#include "engine/rules/notation.h"
#include "engine/rules/pgn.h"
#include "tests/unit/rules/rules_kit.h"

static PgnGame game;
static PgnReader reader;
static Refusal error;
static char file_text[8192];

static void open_text(const char *text) {
    pgn_reader_init(&reader, text, strlen(text));
}

static void open_file(const char *path) {
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t size = fread(file_text, 1, sizeof file_text, file);
    fclose(file);
    pgn_reader_init(&reader, file_text, size);
}

static void expect_status(PgnStatus expected) {
    PgnStatus status = pgn_read(&reader, &game, &error);
    if (status == PGN_BAD && expected != PGN_BAD)
        fail_msg("%s", error.message);
    assert_int_equal(status, expected);
}

static void expect_position(const char *fen) {
    char text[FEN_MAX];
    assert_string_equal(position_to_fen(&game.game.now, text), fen);
}

static void annotated_games_are_read_for_their_moves(void **state) {
    (void)state;
    open_file("tests/data/pgn/annotated.pgn");
    expect_status(PGN_GAME);
    assert_string_equal(pgn_tag(&game, "Site"), "a \"quoted\" place \\ here");
    assert_null(pgn_tag(&game, "White"));
    assert_int_equal(game.game.plies, 16);
    assert_int_equal(game.result, RESULT_WHITE_WINS);
    expect_position("r2qkb1r/2p2ppp/p1n1b3/1p1pP3/4n3/1B3N2/PPP2PPP/RNBQ1RK1 w kq - 1 9");
    expect_status(PGN_GAME);
    assert_int_equal(game.result, RESULT_NONE);
    expect_position("Q4k2/8/3P4/8/8/8/8/4K3 b - - 0 32");
    expect_status(PGN_GAME);
    assert_true(game.game.now.chess960);
    assert_int_equal(game.result, RESULT_DRAW);
    expect_position("2krr3/pppppppp/8/8/8/8/PPPPPPPP/R4RK1 w - - 2 2");
    expect_status(PGN_END);
    expect_status(PGN_END);
}

static void broken_games_are_named_and_passed_over(void **state) {
    (void)state;
    open_file("tests/data/pgn/broken.pgn");
    expect_status(PGN_BAD);
    assert_string_equal(error.message, "line 4: 'Ke3' is no legal move at ply 3");
    expect_status(PGN_BAD);
    assert_string_equal(error.message, "line 7: tag Event is not closed with ]");
    expect_status(PGN_GAME);
    assert_string_equal(pgn_tag(&game, "Event"), "Good");
    expect_status(PGN_BAD);
    assert_string_equal(error.message, "line 18: comment without its end");
    expect_status(PGN_END);
}

static void a_game_may_be_bare_moves_and_lack_its_result(void **state) {
    (void)state;
    open_text("\xef\xbb\xbf"
              "1. e4 e5\n[Event \"next\"]\n*");
    expect_status(PGN_GAME);
    assert_int_equal(game.game.plies, 2);
    assert_int_equal(game.tag_count, 0);
    expect_status(PGN_GAME);
    assert_int_equal(game.game.plies, 0);
    expect_status(PGN_END);
}

static void expect_bad(const char *text, const char *message) {
    open_text(text);
    expect_status(PGN_BAD);
    assert_string_equal(error.message, message);
}

static void limits_are_kept(void **state) {
    (void)state;
    char text[16384];
    size_t length = 0;
    for (int i = 0; i <= PGN_TAGS_MAX; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "[T%d \"\"]\n", i);
    expect_bad(text, "line 65: more than 64 tags");
    snprintf(text, sizeof text, "[Event \"%0300d\"]\n*", 0);
    expect_bad(text, "line 1: the value of tag Event is over 255 bytes");
    snprintf(text, sizeof text, "[%0100d \"\"]\n*", 0);
    expect_bad(text, "line 1: tag name over 63 bytes");
    memset(text, '(', 100);
    text[100] = '\0';
    expect_bad(text, "line 1: variations nested deeper than 64");
    expect_bad("1. e4 (", "line 1: variation without its end");
    expect_bad("1. e4 }", "line 1: unexpected '}'");
    expect_bad("[FEN \"8/8\"]\n\n*",
               "tags before line 3: FEN: the board ends on rank 7 after 8 squares");
    expect_bad("[Event no]\n*", "line 1: tag Event has no quoted value");
    expect_bad("[Event \"x\n\"]\n*", "line 1: the value of tag Event has no end");
}

static void a_game_longer_than_the_limit_is_refused(void **state) {
    (void)state;
    static char text[GAME_PLIES_MAX * 6 + 100];
    size_t length = 0;
    for (int i = 0; i <= GAME_PLIES_MAX; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s ",
                                   (const char *const[]){"Nf3", "Nf6", "Ng1", "Ng8"}[i % 4]);
    expect_bad(text, "line 1: more than 2048 plies");
}

static const char *comment_on(int ply, void *context) {
    (void)context;
    return ply == 0 ? "+0.31/12 0.1s" : ply == 2 ? "a } and\nmore" : ply == 3 ? "  " : NULL;
}

static void play_san(const char *const *moves) {
    Position start = position_of(POSITION_START_FEN);
    game_init(&game.game, &start);
    for (; *moves; moves++)
        game_play(&game.game, move_from_san(&game.game.now, *moves));
}

static void movetext_numbers_blacks_moves_after_comments(void **state) {
    (void)state;
    char out[256];
    play_san((const char *const[]){"e4", "e5", "Nf3", "Nc6", NULL});
    size_t length = pgn_write_moves(&game.game, RESULT_DRAW, comment_on, NULL, out, sizeof out);
    assert_string_equal(out,
                        "1. e4 {+0.31/12 0.1s} 1... e5 2. Nf3 {a ) and more} 2... Nc6 1/2-1/2");
    assert_int_equal(length, strlen(out));
}

static void writers_report_the_length_that_they_lack_room_for(void **state) {
    (void)state;
    char out[8];
    play_san((const char *const[]){"e4", "e5", NULL});
    assert_int_equal(pgn_write_moves(&game.game, RESULT_NONE, NULL, NULL, out, sizeof out), 10);
    assert_string_equal(out, "1. e4 e");
    assert_int_equal(pgn_write_moves(&game.game, RESULT_NONE, NULL, NULL, NULL, 0), 10);
    assert_int_equal(pgn_write_tag("A", "b", out, 4), 8);
    assert_string_equal(out, "[A ");
}

static void tags_escape_what_would_end_them(void **state) {
    (void)state;
    char out[64];
    pgn_write_tag("Site", "a\"b\\c\nd", out, sizeof out);
    assert_string_equal(out, "[Site \"a\\\"b\\\\c d\"]\n");
}

static const char *long_comment(int ply, void *context) {
    (void)ply, (void)context;
    return "words of a comment that go on long enough to be wrapped somewhere near the edge";
}

static void written_games_keep_to_80_columns_and_read_back(void **state) {
    (void)state;
    static char out[65536];
    uint64_t seed = 99;
    Position start = position_of(POSITION_START_FEN);
    Game *played = malloc(sizeof *played);
    game_init(played, &start);
    while (game_end(played) == END_NONE && played->plies < 300) {
        MoveList list;
        movegen_legal(&played->now, &list);
        game_play(played, list.moves[random_word(&seed) % (unsigned)list.size]);
    }
    size_t length = pgn_write_moves(played, RESULT_DRAW, long_comment, NULL, out, sizeof out);
    assert_true(length < sizeof out);
    for (const char *line = out; *line; line += strcspn(line, "\n") + 1) {
        assert_true(strcspn(line, "\n") < 80);
        if (!line[strcspn(line, "\n")])
            break;
    }
    open_text(out);
    expect_status(PGN_GAME);
    assert_int_equal(game.game.plies, played->plies);
    assert_memory_equal(game.game.moves, played->moves, sizeof(Move) * (size_t)played->plies);
    assert_int_equal(game.result, RESULT_DRAW);
    free(played);
}

static void epd_records_hold_operations(void **state) {
    (void)state;
    Position pos;
    const char *ops;
    char out[64];
    const char *line = "4k3/8/8/8/8/8/8/4K2R w K - bm O-O Rh8+; id \"a; b\"; hmvc 7; fmvn 33;\n";
    assert_true(epd_read(line, false, &pos, &ops, &error));
    assert_int_equal(pos.rule50, 7);
    assert_int_equal(pos.fullmove, 33);
    assert_true(ops >= line && strncmp(ops, "bm ", 3) == 0);
    assert_true(epd_operation(ops, "bm", out, sizeof out));
    assert_string_equal(out, "O-O Rh8+");
    assert_true(epd_operation(ops, "id", out, sizeof out));
    assert_string_equal(out, "a; b");
    assert_false(epd_operation(ops, "b", out, sizeof out));
    assert_false(epd_operation(ops, "id", out, 4));
}

static void epd_records_may_have_counters_or_nothing_more(void **state) {
    (void)state;
    Position pos;
    const char *ops;
    char out[64];
    assert_true(epd_read("4k3/8/8/8/8/8/8/4K3 w - - 3 9 ;D1 5 ;D2 25", false, &pos, &ops, &error));
    assert_int_equal(pos.rule50, 3);
    assert_true(epd_operation(ops, "D2", out, sizeof out));
    assert_string_equal(out, "25");
    assert_true(epd_read("4k3/8/8/8/8/8/8/4K3 b - -", false, &pos, &ops, &error));
    assert_string_equal(ops, "");
    assert_true(epd_read("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1\r\n", true, &pos, NULL, &error));
    assert_true(pos.chess960);
}

static void bad_epd_records_are_refused(void **state) {
    (void)state;
    Position pos;
    char line[1024];
    assert_false(epd_read("4k3/8/8/8/8/8/8/4K3 w - - hmvc x;", false, &pos, NULL, &error));
    assert_string_equal(error.message, "operation hmvc is not a number up to 255");
    assert_false(epd_read("4k3/8/8/8/8/8/8/4K3 w - - fmvn 99999;", false, &pos, NULL, &error));
    assert_string_equal(error.message, "operation fmvn is not a number up to 9999");
    snprintf(line, sizeof line, "%0500d w - -", 0);
    assert_false(epd_read(line, false, &pos, NULL, &error));
    assert_false(epd_read("", false, &pos, NULL, &error));
}

int main(void) {
    rules_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(annotated_games_are_read_for_their_moves),
        cmocka_unit_test(broken_games_are_named_and_passed_over),
        cmocka_unit_test(a_game_may_be_bare_moves_and_lack_its_result),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(a_game_longer_than_the_limit_is_refused),
        cmocka_unit_test(movetext_numbers_blacks_moves_after_comments),
        cmocka_unit_test(writers_report_the_length_that_they_lack_room_for),
        cmocka_unit_test(tags_escape_what_would_end_them),
        cmocka_unit_test(written_games_keep_to_80_columns_and_read_back),
        cmocka_unit_test(epd_records_hold_operations),
        cmocka_unit_test(epd_records_may_have_counters_or_nothing_more),
        cmocka_unit_test(bad_epd_records_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

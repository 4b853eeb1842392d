// Games of the archive as PGN and JSON: what another program reads in them, and what machines may
// have written into them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "engine/rules/pgn.h"
#include "server/pages/game_files.h"

#define START "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
#define GAME(fen, before, moves, lists)                                                            \
    "{\"pair\":7,\"opening\":{\"fen\":\"" fen "\",\"moves\":\"" before                             \
    "\"},\"new_is\":\"white\",\"result\":\"0-1\",\"end\":\"rule\",\"reason\":\"White is mated\","  \
    "\"moves\":\"" moves "\"," lists "}"
#define MATED                                                                                      \
    GAME(START, "f2f3 e7e5", "g2g4 d8h4",                                                          \
         "\"clock_ms\":[9990,9000],\"scores\":[-31,999999],\"depths\":[9,12],\"nodes\":[800,90]")

static SqlArchiveBatches batch;
static GameText taken;
static Str out;
static Error err;
static PgnGame read;

static int ready(void **state) {
    (void)state;
    rules_init();
    str_init(&out, 1 << 20);
    batch = (SqlArchiveBatches){
        .id = 3,
        .test = 1,
        .task = 47,
        .machine = 2,
        .machine_name = "kitchen-pc",
        .seq = 1,
        .units = 4,
        .speed = 1e6,
        .received = 1790000000,
        .counts = "counted",
        .first_pair = 4,
        .title = "Late moves",
        .has_dealt_by_seed = true,
        .dealt_by_seed = 42,
        .openings = 100,
        .new_tc = "10+0.2",
        .new_sha = "0123456789abcdef",
        .new_engine = "Anvil",
        .base_tc = "10+0.2",
        .base_sha = "fedcba9876543210",
        .base_engine = "Anvil",
        .reference_speed = 1e6,
        .scale_min = 0.1,
        .scale_max = 10,
    };
    return 0;
}

static int release(void **state) {
    (void)state;
    str_release(&out);
    return 0;
}

// Game 6 of the batch: the first of pair 7.
static bool write_game(ArchiveWrite *write, const char *line) {
    char *text scope(free_ptr) = xstrdup(line);
    size_t size = game_text_take(text, strlen(text), &taken);
    json_auto_t *json = json_loadb(text, size, 0, NULL);
    ArchivedGame game = {.batch = &batch, .number = 6, .opening = 11, .json = json, .text = &taken};
    assert_true(game_line_read(json, &taken, &game.line));
    str_clear(&out);
    return write(&out, &game, &err);
}

static const char *tag(const char *name) {
    const char *value = pgn_tag(&read, name);
    return value ? value : "none";
}

// Afterwards the text has no line ends, which stand where words happen to be wrapped.
static void read_again(void) {
    PgnReader reader;
    Refusal why;
    pgn_reader_init(&reader, out.data, out.size);
    assert_int_equal(pgn_read(&reader, &read, &why), PGN_GAME);
    assert_null(strstr(out.data, "%clk\n"));
    for (size_t i = 0; i < out.size; i++)
        out.data[i] = out.data[i] == '\n' ? ' ' : out.data[i];
}

static void a_game_is_read_again_with_its_tags_moves_and_comments(void **state) {
    (void)state;
    assert_true(write_game(game_file_pgn, MATED));
    read_again();
    assert_int_equal(read.game.plies, 4);
    assert_int_equal(game_end(&read.game), END_CHECKMATE);
    assert_int_equal(read.result, RESULT_BLACK_WINS);
    static const char *const tags[][2] = {{"Event", "Test 1: Late moves"},
                                          {"Site", "kitchen-pc"},
                                          {"Date", "2026.09.21"},
                                          {"Round", "8.1"},
                                          {"White", "Anvil 01234567 (new)"},
                                          {"Black", "Anvil fedcba98 (base)"},
                                          {"Result", "0-1"},
                                          {"FEN", "none"},
                                          {"Variant", "none"},
                                          {"TimeControl", "10.000+0.200"},
                                          {"PlyCount", "4"},
                                          {"Termination", "normal"},
                                          {"Ending", "rule"},
                                          {"Reason", "White is mated"},
                                          {"Test", "1"},
                                          {"Task", "47"},
                                          {"Batch", "1"},
                                          {"Pair", "7"},
                                          {"Game", "0"},
                                          {"Machine", "2"},
                                          {"BookOpening", "12"},
                                          {"Counts", "counted"}};
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        assert_string_equal(tag(tags[i][0]), tags[i][1]);
    assert_non_null(strstr(out.data, "1. f3 {book} 1... e5 {book} 2. g4 {-0.31/9 0.210s, n=800, "));
    assert_non_null(strstr(out.data, "[%clk 0:00:09.990]} 2... Qh4#"));
    assert_non_null(strstr(out.data, "{+M1/12 1.200s, n=90, [%clk"));
}

static void a_side_to_move_that_is_black_and_a_clock_in_periods_are_reckoned(void **state) {
    (void)state;
    batch.new_tc = "10+0.2";
    batch.base_tc = "1/5+0";
    assert_true(
        write_game(game_file_pgn,
                   GAME("4k3/8/8/8/8/8/4q3/K7 b - - 0 1", "", "e2d2 a1b1 d2e2",
                        "\"clock_ms\":[8000,10100,12500],\"scores\":[null,1,2],\"depths\":[0,1,1],"
                        "\"nodes\":[0,1,1]")));
    read_again();
    assert_string_equal(tag("WhiteTimeControl"), "10.000+0.200");
    assert_string_equal(tag("BlackTimeControl"), "1/5.000+0.000");
    assert_string_equal(tag("SetUp"), "1");
    // Black, the base side, gets five seconds with each move: 5 + 5 - 8, then 8 + 5 - 12.5.
    assert_non_null(strstr(out.data, "1... Qd2 {2.000s, n=0, [%clk 0:00:08.000]}"));
    assert_non_null(strstr(out.data, "2. Kb1 {+0.01/1 0.100s, n=1, [%clk 0:00:10.100]}"));
    assert_non_null(strstr(out.data, "0.500s, n=1, [%clk 0:00:12.500]}"));
}

static void a_game_without_clocks_has_no_times(void **state) {
    (void)state;
    batch.new_tc = batch.base_tc = "nodes=1000";
    assert_true(write_game(game_file_pgn, MATED));
    assert_null(strstr(out.data, "%clk"));
    assert_non_null(strstr(out.data, "{-0.31/9 n=800}"));
    assert_non_null(strstr(out.data, "[TimeControl \"nodes=1000\"]"));
}

static void a_chess960_game_says_so_and_castles(void **state) {
    (void)state;
    batch.chess960 = true;
    assert_true(
        write_game(game_file_pgn, GAME("4k3/8/8/8/8/8/8/1R2K1R1 w GB - 0 1", "", "e1g1 e8e7",
                                       "\"clock_ms\":[1,2],\"scores\":[1,2],"
                                       "\"depths\":[1,1],\"nodes\":[1,1]")));
    read_again();
    assert_string_equal(tag("Variant"), "Chess960");
    assert_non_null(strstr(out.data, "1. O-O {"));
}

static void what_a_machine_wrote_acts_nowhere(void **state) {
    (void)state;
    batch.machine_name = "x\"]\n[Counts \"y\x1b[31m";
    static const char *const reasons[] = {"\\u202e} 1-0 {", "a\\\"]\\n[Result \\\"1-0\\\"]",
                                          "\\u001b[2J\\\\"};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        char *line scope(free_ptr) = xasprintf("{\"reason\":\"%s\",\"secret\":1,\"test\":9,%s",
                                               reasons[i], strstr(MATED, "\"pair\""));
        char *second = strstr(line + 12, "\"reason\"");
        memcpy(second, "\"raeson\"", 8);
        assert_true(write_game(game_file_pgn, line));
        read_again();
        assert_string_equal(tag("Result"), "0-1");
        assert_string_equal(tag("Counts"), "counted");
        assert_null(strchr(out.data, '\x1b'));
        assert_null(strstr(out.data, "\xe2\x80\xae"));
        assert_true(write_game(game_file_json, line));
        assert_null(strchr(out.data, '\x1b'));
        assert_null(strstr(out.data, "\xe2\x80\xae"));
        assert_null(strstr(out.data, "secret"));
        json_auto_t *json = json_loadb(out.data, out.size, JSON_REJECT_DUPLICATES, NULL);
        assert_int_equal(json_integer_value(json_object_get(json, "test")), 1);
    }
}

static void the_longest_numbers_fit(void **state) {
    (void)state;
    assert_true(write_game(
        game_file_pgn,
        GAME(START, "f2f3 e7e5", "g2g4 d8h4",
             "\"clock_ms\":[999999999999999999,-999999999999999999],"
             "\"scores\":[-999999999999999999,null],\"depths\":[-999999999999999999,null],"
             "\"nodes\":[-999999999999999999,999999999999999999]")));
    read_again();
    assert_int_equal(read.game.plies, 4);
}

static void what_cannot_be_played_is_no_game(void **state) {
    (void)state;
    assert_false(write_game(game_file_pgn, GAME(START, "", "e2e5", "\"nodes\":[1]")));
    assert_false(write_game(game_file_pgn, GAME("no position", "", "e2e4", "\"nodes\":[1]")));
    // Lists that are too short or missing: nothing is read behind their end.
    assert_true(write_game(game_file_pgn, GAME(START, "", "e2e4 e7e5", "\"nodes\":[1]")));
    assert_true(write_game(game_file_json, GAME(START, "", "e2e4 e7e5", "\"nodes\":[1]")));
    assert_non_null(strstr(out.data, "\"clock_ms\":[],"));
}

static void a_line_of_json_is_the_game_with_its_place(void **state) {
    (void)state;
    assert_true(write_game(game_file_json, MATED));
    json_auto_t *json = json_loadb(out.data, out.size, JSON_REJECT_DUPLICATES, NULL);
    json_auto_t *wanted = json_loads(
        "{\"test\":1,\"task\":47,\"batch\":1,\"pair\":7,\"game\":0,\"machine\":2,"
        "\"counts\":\"counted\",\"opening\":{\"number\":12,\"fen\":\"" START
        "\",\"moves\":\"f2f3 e7e5\"},\"new_is\":\"white\",\"result\":\"0-1\",\"end\":\"rule\","
        "\"reason\":\"White is mated\",\"moves\":\"g2g4 d8h4\",\"rest_ms\":{\"new\":0,\"base\":0},"
        "\"clock_ms\":[9990,9000],\"scores\":[-31,999999],\"depths\":[9,12],\"nodes\":[800,90]}",
        0, NULL);
    assert_true(json_equal(json, wanted));
    assert_int_equal(out.data[out.size - 1], '\n');
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, ready, release)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH(a_game_is_read_again_with_its_tags_moves_and_comments),
        WITH(a_side_to_move_that_is_black_and_a_clock_in_periods_are_reckoned),
        WITH(a_game_without_clocks_has_no_times),
        WITH(a_chess960_game_says_so_and_castles),
        WITH(what_a_machine_wrote_acts_nowhere),
        WITH(the_longest_numbers_fit),
        WITH(what_cannot_be_played_is_no_game),
        WITH(a_line_of_json_is_the_game_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

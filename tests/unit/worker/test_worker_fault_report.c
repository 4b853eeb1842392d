// Fault reports as a document, and what strangers' programs print as plain text.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "engine/rules/notation.h"
#include "server/common/bytes_text.h"
#include "server/common/hash.h"
#include "server/common/json_member.h"
#include "server/common/utf8.h"
#include "tests/kit/worker_kit.h"
#include "worker/build/plain_text.h"
#include "worker/task/fault_report.h"

static const Task task = {.id = 311,
                          .test_id = 42,
                          .title = "LMR a little more",
                          .first_pair = 640,
                          .sides = {{.name = "new"}, {.name = "base"}}};
static const FaultContext context = {&task, {"10.000+0.100", "10.000+0.100"}};

// The new side crashed with White after one move. New.
static GameRecord *make_game(const MatchFault *fault_report) {
    Position start;
    Refusal err;
    GameRecord *game = xcalloc(1, sizeof *game);
    rules_init();
    assert_true(position_from_fen(&start, POSITION_START_FEN, false, &err));
    *game = (GameRecord){.pair = 3,
                         .players = {0, 1},
                         .index = 1,
                         .result = RESULT_BLACK_WINS,
                         .kind = GAME_END_CRASH,
                         .culprit = 0,
                         .reason = "White disconnects",
                         .fault_report = fault_report};
    game_init(&game->game, &start);
    game->moves[0] = (MoveRecord){.move = move_from_uci(&game->game.now, "e2e4")};
    game_play(&game->game, game->moves[0].move);
    return game;
}

static void it_has_the_members_that_the_api_names(void **state) {
    (void)state;
    const MatchFault said = {{"> go\n", "> isready\n"}, {"Assertion failed\n", ""}};
    GameRecord *game scope(free_ptr) = make_game(&said);
    json_auto_t *got = fault_report_to_json(game, &context);
    json_auto_t *example = kit_api_example("fault_report.request");
    const char *name;
    json_t *value;
    json_object_foreach (example, name, value) {
        json_t *ours = json_object_get(got, name);
        if (!ours || json_typeof(ours) != json_typeof(value))
            fail_msg("%s is missing or of another type", name);
    }
    assert_int_equal(json_object_size(got), json_object_size(example));
    assert_int_equal(json_integer_value(json_object_get(got, "pair")), 643);
    assert_int_equal(json_integer_value(json_object_get(got, "game")), 1);
    assert_string_equal(json_string_value(json_object_get(got, "end")), "crash");
    assert_string_equal(json_string_value(json_object_get(json_object_get(got, "errors"), "new")),
                        "Assertion failed\n");
    const char *pgn = json_string_value(json_object_get(got, "pgn"));
    assert_non_null(strstr(pgn, "[White \"new\"]"));
    assert_non_null(strstr(pgn, "1. e4"));
}

static void the_sides_have_the_names_of_the_task(void **state) {
    (void)state;
    const Task rivals = {.title = "A match", .sides = {{.name = "mate-2"}, {.name = "stockfish"}}};
    const FaultContext between = {&rivals, {"10.000+0.100", "5.000+0.050"}};
    const MatchFault said = {{"> go\n", "> isready\n"}, {"", "Assertion failed\n"}};
    GameRecord *game scope(free_ptr) = make_game(&said);
    game->culprit = 1;
    json_auto_t *got = fault_report_to_json(game, &between);
    assert_string_equal(member_text(got, "side"), "stockfish");
    json_t *errors = json_object_get(got, "errors"), *talk = json_object_get(got, "protocol_log");
    assert_int_equal(json_object_size(errors), 2);
    assert_string_equal(member_text(errors, "mate-2"), "");
    assert_string_equal(member_text(errors, "stockfish"), "Assertion failed\n");
    assert_string_equal(member_text(talk, "mate-2"), "> go\n");
    const char *pgn = member_text(got, "pgn");
    assert_non_null(strstr(pgn, "[White \"mate-2\"]"));
    assert_non_null(strstr(pgn, "[Black \"stockfish\"]"));
}

// Control characters are the worst that JSON can be asked for: six bytes each, were they kept.
static void it_stays_within_its_size_whatever_was_said(void **state) {
    (void)state;
    static char quotes[400000];
    memset(quotes, '"', sizeof quotes - 1);
    const MatchFault said = {{quotes, quotes}, {quotes, quotes}};
    GameRecord *game scope(free_ptr) = make_game(&said);
    json_auto_t *got = fault_report_to_json(game, &context);
    size_t size = json_dumpb(got, NULL, 0, JSON_COMPACT);
    assert_in_range(size, 10000, FAULT_REPORT_JSON_MAX);
}

static void it_is_sent_as_one_compressed_document(void **state) {
    (void)state;
    Error err;
    scope(str_release) Str text;
    GameRecord *game scope(free_ptr) = make_game(NULL); // nothing was kept of what was said
    SpoolItem *item = fault_report_item(game, &context, 7);
    str_init(&text, FAULT_REPORT_JSON_MAX);
    assert_true(zstd_decompress(item->bytes, item->size, &text, &err));
    json_auto_t *root = json_loads(text.data, 0, NULL);
    assert_non_null(root);
    assert_int_equal(item->seq, 7);
    assert_int_equal(item->task, 311);
    spool_item_free(item);
}

static void only_faults_are_fault_report(void **state) {
    (void)state;
    GameRecord *game scope(free_ptr) = make_game(NULL);
    assert_true(fault_report_is_in(game));
    game->kind = GAME_END_TIME;
    assert_true(fault_report_is_in(game));
    game->kind = GAME_END_PONDER;
    assert_true(fault_report_is_in(game));
    game->kind = GAME_END_ABORTED;
    assert_false(fault_report_is_in(game));
    game->kind = GAME_END_RULE;
    game->culprit = -1;
    assert_false(fault_report_is_in(game));
}

// ---- plain text ---------------------------------------------------------------------------------

// As bytes_text.h says: the way back.
static void bytes_of_text(const char *text, size_t size, Str *out) {
    unsigned code;
    for (size_t i = 0, n; i < size; i += n) {
        n = utf8_character(text + i, size - i, &code);
        assert_true(n > 0 && code > 0);
        if (code >= BYTES_TEXT_FIRST && code <= BYTES_TEXT_LAST)
            str_putc(out, (char)(code - BYTES_TEXT_FIRST));
        else
            str_add(out, text + i, n);
    }
}

static void every_byte_that_is_printed_can_be_had_back(void **state) {
    (void)state;
    const struct {
        const char *bytes;
        size_t size;
    } cases[] = {
        {"a\tb\r\n\x1B[01;31merror\x1B[0m\n", 22},
        {"\xC3\xA4\xE2\x80\x98\xF0\x9F\x98\x80\xE2\x80\xAE", 12},
        {"\xE4\xFCx\0y\x7F\xE2\x80", 8},                  // Latin-1, NUL, cut off
        {"\xC0\x80\xED\xA0\x80\xF5\xF4\x90\x80\x80", 10}, // overlong, surrogate, too large
        {"\xF4\x8F\xBC\x80\xF4\x8F\xBF\xBF", 8},          // what stands for bytes
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Str text scope(str_release), back scope(str_release);
        str_init(&text, 1000);
        str_init(&back, 1000);
        bytes_text_add(&text, cases[i].bytes, cases[i].size);
        json_auto_t *value = plain_tail(text.data, text.size, 1000);
        char *dumped scope(free_ptr) = json_dumps(value, JSON_ENCODE_ANY);
        json_auto_t *got = json_loads(dumped, JSON_DECODE_ANY, NULL);
        assert_non_null(got);
        bytes_of_text(json_string_value(got), json_string_length(got), &back);
        assert_int_equal(back.size, cases[i].size);
        assert_memory_equal(back.data, cases[i].bytes, back.size);
    }
    json_auto_t *cut = plain_tail("\xC3\xA4\xC3", 3, 1000); // where there was no more room
    assert_string_equal(json_string_value(cut), "\xC3\xA4\xF4\x8F\xBF\x83");
}

static void a_long_text_loses_its_first_lines(void **state) {
    (void)state;
    const struct {
        const char *text;
        size_t max;
        const char *tail;
    } cases[] = {
        {"first\nsecond\n", 10, "second\n"}, // whole lines
        {"no end in sight", 8, "in sight"},
        {"\xC3\xA4\xC3\xA4\xC3\xA4", 3, "\xC3\xA4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_auto_t *got = plain_tail(cases[i].text, strlen(cases[i].text), cases[i].max);
        assert_string_equal(json_string_value(got), cases[i].tail);
    }
}

static void the_first_error_of_a_build_is_found(void **state) {
    (void)state;
    const struct {
        const char *log, *line;
    } cases[] = {
        {"cc -c a.c\na.c:5:1: warning: x\na.c:9:2: error: y\nb.c: error: z\n", "a.c:9:2: error: y"},
        {"ld: main.o: undefined reference to `f'", "ld: main.o: undefined reference to `f'"},
        {"make: *** No rule to make target 'all'.  Stop.\n",
         "make: *** No rule to make target 'all'.  Stop."},
        {"\x1B[1merror: \x1B[0mbold\n", "\\x1b[1merror: \\x1b[0mbold"},
        {"all is well\n", ""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[64];
        assert_string_equal(first_error(cases[i].log, strlen(cases[i].log), line, sizeof line),
                            cases[i].line);
    }
    char cut[12];
    assert_string_equal(first_error("x.c: error: y", 13, cut, sizeof cut), "x.c: error:");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_has_the_members_that_the_api_names),
        cmocka_unit_test(the_sides_have_the_names_of_the_task),
        cmocka_unit_test(it_stays_within_its_size_whatever_was_said),
        cmocka_unit_test(it_is_sent_as_one_compressed_document),
        cmocka_unit_test(only_faults_are_fault_report),
        cmocka_unit_test(every_byte_that_is_printed_can_be_had_back),
        cmocka_unit_test(a_long_text_loses_its_first_lines),
        cmocka_unit_test(the_first_error_of_a_build_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

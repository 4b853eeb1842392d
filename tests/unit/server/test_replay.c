// Games of a batch played over again: what is honest passes, and each kind of lie is named with its
// game.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "engine/rules/position.h"
#include "server/common/hash.h"
#include "server/ledger/replay.h"

#define OPENING                                                                                    \
    "\"opening\":{\"fen\":\"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\","           \
    "\"moves\":\"f2f3 e7e5\"}"
#define LISTS "\"depths\":[9,9],\"nodes\":[900,900]"
#define MATED /* White is mated by its own fault */                                                \
    "{\"pair\":7," OPENING ",\"new_is\":\"white\",\"result\":\"0-1\",\"end\":\"rule\","            \
    "\"moves\":\"g2g4 d8h4\",\"clock_ms\":[10000,9000],\"scores\":[-10,999999]," LISTS "}\n"
#define FLAGGED /* White, now the base side, loses on time */                                      \
    "{\"pair\":7," OPENING ",\"new_is\":\"black\",\"result\":\"0-1\",\"end\":\"time\","            \
    "\"moves\":\"a2a3 a7a6\",\"clock_ms\":[0,10200],\"scores\":[-10,10],\"flag_ms\":0," LISTS      \
    "}\n"

static Error err;

static json_t *openings;

static int ready(void **state) {
    (void)state;
    rules_init();
    openings = json_loads("[{" OPENING "}]", 0, NULL);
    json_t *opening = json_object_get(json_array_get(openings, 0), "opening");
    json_array_append(openings, opening);
    return json_array_remove(openings, 0);
}

static int release(void **state) {
    (void)state;
    json_decref(openings);
    return 0;
}

static ReplayFacts facts(void) {
    TimeControl clock = {.base_s = 10, .increment_s = 0.2};
    return (ReplayFacts){.first_pair = 7,
                         .outcomes = "2",
                         .wins = 1,
                         .losses = 1,
                         .time_losses = 1,
                         .openings = openings,
                         .clocks = {clock, clock},
                         .margin_ms = {7, 5},
                         .thought = 11600};
}

static bool replay(const char *text, const ReplayFacts *of) {
    err = (Error){0};
    return replay_games(text, strlen(text), of, &err);
}

static void honest_games_pass(void **state) {
    (void)state;
    ReplayFacts honest = facts();
    assert_true(replay(MATED FLAGGED, &honest));
    static const char no_end[] = MATED FLAGGED;
    assert_true(replay_games(no_end, strlen(no_end) - 1, &honest, &err));
}

// `text` with the first `old` replaced.
static const char *with(const char *text, const char *old, const char *new) {
    static char out[8192];
    const char *at = strstr(text, old);
    assert_non_null(at);
    snprintf(out, sizeof out, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
    return out;
}

static void each_lie_is_named(void **state) {
    (void)state;
    static const struct {
        const char *old, *new, *named;
    } lies[] = {
        {"g2g4 d8h4", "g2g5 d8h4", "game 1: move 1 of the game, g2g5, is not legal"},
        {"g2g4 d8h4", "g2g4 d8h5", "game 1: move 2 of the game, d8h5"},
        {"g2g4 d8h4", "g2g4 nonsense-that-is-long", "game 1: move 2"},
        {"\"0-1\"", "\"1-0\"", "game 1: its result does not follow"},
        {"\"0-1\"", "\"*\"", "game 1: its result does not follow"},
        {"\"rule\"", "\"aborted\"", "game 1: its result does not follow"},
        {"\"rule\"", "\"illegal\"", "does not follow"}, // mate comes first
        {"\"rule\"", "\"adjudication\"", "does not follow"},
        {"d8h4\"", "d8h4 a2a3\"", "game 1: it was over after ply 2"},
        {"a2a3 a7a6", "a2a3 d8h4 g2g3", "game 2: it has not one clock, score"},
        {"\"time\",", "\"adjudication\",", "game 2: its result does not follow"},
        {"\"scores\":[-10,10]", "\"scores\":[-10,\"10\"]", "game 2: it has not one clock, score"},
        {"\"scores\":[-10,10]", "\"scores\":[-10,1000001]", "a score of it is no score"},
        {"\"scores\":[-10,10]", "\"scores\":[-10]", "it has not one clock, score"},
        {"\"nodes\":[900,900]", "\"nodes\":[900]", "game 1: it has not one clock, score, depth"},
        {"\"depths\":[9,9]", "\"depths\":9", "it has not one clock, score, depth and count"},
        {"f2f3 e7e5", "f2f3 e7e6", "game 1: its opening is not the one that was dealt"},
        {"- 0 1", "- 0 2", "game 1: its opening is not the one that was dealt"},
        {"g2g4 d8h4\"", "g2g4\"", "game 1: it has not one clock"},
        {"[10000,9000]", "[10000]", "one clock, score, depth and count a move"},
        {"[10000,9000]", "[10000,10400]", "10400 ms on the clock after ply 2"},
        {"[10000,9000]", "[-1,9000]", "-1 ms on the clock after ply 1"},
        {"\"pair\":7", "\"pair\":8", "game 1: it is of another pair"},
        {"\"new_is\":\"black\"", "\"new_is\":\"white\"", "game 2: its colours are not those"},
        {"\"new_is\":\"white\"", "\"new_is\":\"red\"", "game 1: it does not say who was white"},
        {"\"time\"", "\"stall\"",
         "1 crashes, 0 time losses, 0 by pondering of the new side and 0 of the base, counted as "
         "0, 1, 0 and 0"},
        {"\"flag_ms\":0,", "", "game 2: it was lost on time after -1 ms, when 0 ms were allowed"},
        {"[0,10200]", "[1,10200]", "game 2: it was lost on time after 0 ms, when 6 ms"},
        {"{\"pair\"", "[\"pair\"", "game 1: it is no JSON object"},
    };
    ReplayFacts honest = facts();
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        assert_false(replay(with(MATED FLAGGED, lies[i].old, lies[i].new), &honest));
        assert_string_equal(err.code, "replay_mismatch");
        if (lies[i].named && !strstr(err.message, lies[i].named))
            fail_msg("%s, not %s", err.message, lies[i].named);
    }
}

// A game of the pair, with one number a move in each list.
static void add_game(char *out, size_t size, bool new_is_white, const char *result, const char *end,
                     const char *moves, const char *clocks, const char *scores) {
    const char *flag = strcmp(end, "time") == 0 ? "\"flag_ms\":2005," : "";
    size_t at = strlen(out);
    char zeros[64];
    int commas = 0;
    for (const char *p = clocks; (p = strchr(p, ',')); p++)
        commas++;
    snprintf(zeros, sizeof zeros, "%.*s", 2 * commas + 1, "0,0,0,0,0,0,0,0");
    snprintf(out + at, size - at,
             "{\"pair\":7," OPENING ",\"new_is\":\"%s\",%s\"result\":\"%s\",\"end\":\"%s\","
             "\"moves\":\"%s\",\"clock_ms\":[%s],\"scores\":[%s],\"depths\":[%s],\"nodes\":[%s]}\n",
             new_is_white ? "white" : "black", flag, result, end, moves, clocks, scores, zeros,
             zeros);
}

// `named`: what the replay of a row must say; NULL: it must find nothing wrong.
static void check_row(size_t row, bool good, const char *named) {
    if (good != !named || (!good && !strstr(err.message, named)))
        fail_msg("%zu: %s", row, good ? "good" : err.message);
}

// After 1. f3 e5 White has the move.
static void games_that_a_rule_of_adjudication_ends_show_it(void **state) {
    (void)state;
    static const struct {
        const char *result, *end, *moves, *scores, *named; // NULL: right
    } rows[] = {
        {"0-1", "adjudication", "g2g4", "-600", NULL},
        {"0-1", "adjudication", "g2g4", "-599", "does not follow"},
        {"1-0", "adjudication", "g2g4", "-600", "does not follow"},
        {"1/2-1/2", "adjudication", "g2g4", "-600", "does not follow"},
        {"0-1", "adjudication", "g2g4", "600", "does not follow"},
        {"0-1", "adjudication", "g2g4", "null", "does not follow"},
        {"0-1", "crash", "g2g4", "-600", "does not follow"},
        {"0-1", "crash", "g2g4", "-599", NULL},
        {"1-0", "adjudication", "g2g4 b8c6", "0,-999990", NULL},
        {"1-0", "adjudication", "g2g4 b8c6 a2a3", "0,-999990,0", "it was over after ply 2"},
        {"1/2-1/2", "adjudication", "b1c3 b8c6", "20,-20", NULL},
        {"1/2-1/2", "adjudication", "b1c3 b8c6", "20,-21", "does not follow"},
        {"1/2-1/2", "adjudication", "b1c3 b8c6", "20,999990", "does not follow"},
        {"1/2-1/2", "adjudication", "b1c3 b8c6 c3b1 c6b8", "99,99,0,0", NULL},
        {"1/2-1/2", "adjudication", "a2a3 b8c6", "99,99", "does not follow"},
        {"1/2-1/2", "adjudication", "a2a3 b8c6 a3a4 a7a6 h2h3 h7h6", "99,99,99,99,99,99", NULL},
        {"0-1", "time", "a2a3 b8c6", "99,99", NULL},
        {"1-0", "time", "a2a3 b8c6", "99,99", "does not follow"},
        {"1/2-1/2", "time", "a2a3 b8c6", "99,99", "does not follow"}, // Black could mate
    };
    ReplayFacts of = facts();
    of.clocks[0] = of.clocks[1] = (TimeControl){.move_s = 2};
    of.rules = (Adjudication){.draw_move = 2,
                              .draw_count = 1,
                              .draw_score = 20,
                              .resign_count = 1,
                              .resign_score = 600,
                              .max_moves = 3};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[2048] = "";
        bool drawn = strcmp(rows[i].result, "1/2-1/2") == 0;
        of.wins = of.losses = !drawn;
        of.draws = 2 * drawn;
        of.crashes = 2 * (strcmp(rows[i].end, "crash") == 0);
        of.time_losses = 2 * (strcmp(rows[i].end, "time") == 0);
        for (int game = 0; game < 2; game++)
            add_game(text, sizeof text, game == 0, rows[i].result, rows[i].end, rows[i].moves,
                     rows[i].scores, rows[i].scores);
        check_row(i, replay(text, &of), rows[i].named);
    }
}

// The base side, Black in the first game, has half the time of the new side.
static void each_side_has_a_clock_that_gains_no_more_than_its_increment(void **state) {
    (void)state;
    static const struct {
        const char *clocks;
        int64_t thought;
        const char *named; // NULL: right
    } rows[] = {
        {"8000,4000,8202,4302", 4996, NULL},
        {"8000,4000,8203,4302", 4996, "8203 ms on the clock after ply 3 is impossible with 10.000"},
        {"8000,4000,8202,4303", 4996, "4303 ms on the clock after ply 4 is impossible with 5.000"},
        {"8000,5303,8000,4000", 4996, "5303 ms on the clock after ply 2"},
        {"0,0,200,300", 17000, NULL},
        {"0,0,203,300", 17000, "203 ms on the clock after ply 3"},
    };
    ReplayFacts of = facts();
    of.time_losses = 0;
    of.crashes = 1;
    of.clocks[1] = (TimeControl){.base_s = 5, .increment_s = 0.3};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[2048] = "";
        of.thought = rows[i].thought;
        add_game(text, sizeof text, true, "0-1", "crash", "a2a3 b8c6 a3a4 a7a6", rows[i].clocks,
                 "0,0,0,0");
        add_game(text, sizeof text, false, "0-1", "rule", "g2g4 d8h4", "5000,9000", "0,0");
        check_row(i, replay(text, &of), rows[i].named);
    }
}

// White, the new side in the first game and the base side in the second, had 2,000 ms left.
static void a_flag_that_fell_shows_in_the_time_of_the_last_move(void **state) {
    (void)state;
    static const struct {
        TimeControl clock;
        int64_t margins[2], thought;
        const char *named; // NULL: right
    } rows[] = {
        {{.base_s = 10}, {5, 5}, 32010, NULL},
        {{.base_s = 10}, {5, 5}, 28000, "the clocks show that the engines thought for"},
        {{.base_s = 10}, {8, 5}, 32010, "game 1: it was lost on time after 2005 ms, when 2008 ms"},
        {{.base_s = 10}, {5, 8}, 32010, "game 2: it was lost on time after 2005 ms, when 2008 ms"},
        {{.move_s = 2}, {5, 5}, 0, NULL},
        {{.move_s = 2.1}, {5, 5}, 0, "game 1: it was lost on time after 2005 ms, when 2100 ms"},
        {{.nodes = 1000}, {5, 5}, 0, "game 1: it was lost on time without a clock"},
    };
    ReplayFacts of = facts();
    of.time_losses = 2;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[2048] = "";
        of.clocks[0] = of.clocks[1] = rows[i].clock;
        memcpy(of.margin_ms, rows[i].margins, sizeof of.margin_ms);
        of.thought = rows[i].thought;
        for (int game = 0; game < 2; game++)
            add_game(text, sizeof text, game == 0, "0-1", "time", "a2a3 b8c6", "2000,4000", "0,0");
        check_row(i, replay(text, &of), rows[i].named);
    }
}

static void counts_must_be_those_of_the_games(void **state) {
    (void)state;
    ReplayFacts other = facts();
    other.outcomes = "3";
    assert_false(replay(MATED FLAGGED, &other));
    assert_non_null(strstr(err.message, "2 half points for the new side, counted as 3"));
    other = facts();
    other.outcomes = "22";
    assert_false(replay(MATED FLAGGED, &other));
    assert_non_null(strstr(err.message, "2 games for 2 pairs"));
    other = facts();
    other.wins = other.losses = 0;
    other.draws = 2;
    assert_false(replay(MATED FLAGGED, &other));
    assert_string_equal(err.message, "1 games won, 1 lost and 0 drawn, counted as 0, 0 and 2");
    other = facts();
    assert_false(replay(MATED FLAGGED MATED, &other));
    assert_non_null(strstr(err.message, "game 3: it is one too many"));
    assert_false(replay("", &other));
    assert_false(replay("\n\n\n", &other));
}

static void clocks_follow_their_control(void **state) {
    (void)state;
    ReplayFacts of = facts();
    of.clocks[0].moves = of.clocks[1].moves = 1; // the base comes again with each move
    of.thought = 32600;
    assert_true(replay(with(MATED FLAGGED, "[10000,9000]", "[19000,19000]"), &of));
    of.clocks[0] = (TimeControl){.nodes = 1000};
    of.clocks[1] = (TimeControl){.move_s = 0.001};
    assert_true(replay(with(MATED FLAGGED, "[10000,9000]", "[0,99999]"), &of));
}

// A clock that shows 0 may be up to 250 ms below it, and all clocks are rounded.
static void the_time_that_engines_thought_is_that_of_the_clocks(void **state) {
    (void)state;
    ReplayFacts of = facts();
    static const int64_t right[] = {11600, 11500, 11900}, wrong[] = {0, 11000, 12500, 20000};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        of.thought = right[i];
        assert_true(replay(MATED FLAGGED, &of));
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        of.thought = wrong[i];
        assert_false(replay(MATED FLAGGED, &of));
        assert_non_null(strstr(err.message, "the clocks show that the engines thought for 11."));
    }
}

static void moves_that_were_checked_are_those_of_the_games(void **state) {
    (void)state;
    ReplayFacts of = facts();
    int64_t fits = 0;
    for (of.said_moves = 1; of.said_moves < 100; of.said_moves++)
        if (replay(MATED FLAGGED, &of))
            fits = fits ? -1 : of.said_moves;
    assert_int_equal(fits, 4);
    of.said_moves = 7;
    assert_false(replay(MATED FLAGGED, &of));
    assert_string_equal(err.message,
                        "the games have 4 moves, and what engines said was counted for 7");
}

// A value of JSON takes up to a hundred times its text in memory: so only lines that a game can
// have are parsed.
static void lines_that_no_game_needs_are_not_parsed(void **state) {
    (void)state;
    static char text[GAME_LINE_MAX + sizeof MATED FLAGGED + 64];
    ReplayFacts honest = facts();
    size_t size = strlen(MATED) - 2; // without "}" and the end of the line
    size_t at = (size_t)snprintf(text, sizeof text, "%.*s,\"more\":\"", (int)size, MATED);
    memset(text + at, 'x', GAME_LINE_MAX - 2 - at);
    snprintf(text + GAME_LINE_MAX - 2, sizeof text - GAME_LINE_MAX + 2, "\"}\n%s", FLAGGED);
    assert_true(replay(text, &honest));
    snprintf(text + GAME_LINE_MAX - 2, sizeof text - GAME_LINE_MAX + 2, "x\"}\n%s", FLAGGED);
    assert_false(replay(text, &honest));
    assert_string_equal(err.message, "game 1: its line has more than 128 KiB");
}

// ---- games as they are uploaded -----------------------------------------------------------------

static bool check_packed(const char *text, int pairs) {
    Str packed scope(str_release);
    str_init(&packed, 1 << 20);
    err = (Error){0};
    zstd_compress(text, strlen(text), 6, &packed);
    return games_check(packed.data, packed.size, pairs, &err);
}

static void an_upload_has_two_lines_for_each_pair(void **state) {
    (void)state;
    assert_true(check_packed(MATED FLAGGED, 1));
    assert_true(check_packed("{}\n{}", 1)); // the content is checked later
    assert_false(check_packed(MATED, 1));
    assert_string_equal(err.message, "1 games, should be 2");
    assert_false(check_packed(MATED FLAGGED MATED, 1));
    assert_string_equal(err.message, "more than 2 games");
    assert_false(check_packed(MATED "no object\n", 1));
    assert_string_equal(err.message, "line 2 is no JSON object");
    assert_string_equal(err.code, "bad_games");
}

static void an_upload_has_a_size_that_its_games_can_have(void **state) {
    (void)state;
    static char text[3 * GAME_LINE_MAX];
    err = (Error){0};
    assert_false(games_check(text, games_packed_max(1) + 1, 1, &err));
    assert_int_equal(err.status, 413);
    memset(text, 'x', sizeof text - 1);
    assert_false(check_packed(text, 1));
    assert_non_null(strstr(err.message, "line 1 has over 131072 bytes"));
    assert_false(games_check("not packed", 10, 1, &err));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_games_pass),
        cmocka_unit_test(each_lie_is_named),
        cmocka_unit_test(games_that_a_rule_of_adjudication_ends_show_it),
        cmocka_unit_test(each_side_has_a_clock_that_gains_no_more_than_its_increment),
        cmocka_unit_test(a_flag_that_fell_shows_in_the_time_of_the_last_move),
        cmocka_unit_test(counts_must_be_those_of_the_games),
        cmocka_unit_test(clocks_follow_their_control),
        cmocka_unit_test(moves_that_were_checked_are_those_of_the_games),
        cmocka_unit_test(the_time_that_engines_thought_is_that_of_the_clocks),
        cmocka_unit_test(lines_that_no_game_needs_are_not_parsed),
        cmocka_unit_test(an_upload_has_two_lines_for_each_pair),
        cmocka_unit_test(an_upload_has_a_size_that_its_games_can_have),
    };
    return cmocka_run_group_tests(tests, ready, release);
}

// What a match writes of its games: PGN in all detail, EPD, JSON, clocks, the line about time; and
// who plays whom.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "engine/rules/notation.h"
#include "worker/match/game_record.h"
#include "worker/match/pgn_out.h"
#include "worker/match/tournament.h"
#include "worker/match_cli/json.h"
#include "worker/match_cli/timing.h"

static const EngineSpec engines[] = {
    {.name = "New", .limit = {.base_ms = 10000, .increment_ms = 100}},
    {.name = "Ba\"se", .limit = {.base_ms = 60000, .moves_to_go = 2}},
};
static const char *const controls[] = {"10+0.1", "2/60"};
static const char info[] = "info depth 9 hashfull 12 tbhits 3 pv e7e5 g1f3";

// Base has White; 1. e4 is the opening, then e5 by New and Nf3 by Base, which resigns.
static GameRecord *sample(void) {
    static GameRecord record;
    Position start;
    Refusal err;
    assert_true(position_from_fen(&start, POSITION_START_FEN, false, &err));
    record = (GameRecord){.pair = 3,
                          .index = 1,
                          .players = {0, 1},
                          .white = 1,
                          .result = RESULT_BLACK_WINS,
                          .kind = GAME_END_ADJUDICATION,
                          .culprit = -1,
                          .rest_us = {9000, 1000}, // 2 ms each are free
                          .reason = "Black wins by adjudication",
                          .opening_plies = 1,
                          .started_us = 1700000000000000,
                          .lasted_us = 3723000000,
                          .infos = info};
    game_init(&record.game, &start);
    static const char *const moves[] = {"e2e4", "e7e5", "g1f3"};
    for (int i = 0; i < 3; i++)
        game_play(&record.game, move_from_uci(&record.game.now, moves[i]));
    record.moves[1] = (MoveRecord){.time_us = 1234567,
                                   .score_cp = 23,
                                   .depth = 9,
                                   .seldepth = 14,
                                   .nodes = 500000,
                                   .engine_ms = 1230,
                                   .cpu_us = 1200000,
                                   .delay_us = 4000,
                                   .info_size = sizeof info - 1};
    record.moves[2] = (MoveRecord){.time_us = 2000000,
                                   .score_cp = -(UCI_SCORE_MATE - 6),
                                   .depth = 3,
                                   .engine_ms = -1,
                                   .cpu_us = -1,
                                   .delay_us = -1};
    return &record;
}

static char *pgn_of(PgnFormat format) {
    Str out;
    PgnHeader header = {.event = "E",
                        .site = "S",
                        .engines = engines,
                        .controls = controls,
                        .pairing_count = 1,
                        .format = format};
    str_init(&out, 1 << 16);
    pgn_out_game(&out, &header, sample());
    return str_steal(&out);
}

static void assert_has(const char *text, const char *part) {
    if (!strstr(text, part))
        fail_msg("\"%s\" is missing in:\n%s", part, text);
}

static void pgn_has_the_tags_of_fastchess(void **state) {
    (void)state;
    scope(free_ptr) char *text = pgn_of((PgnFormat){0});
    static const char *const tags[] = {
        "[Round \"4\"]\n[White \"Ba\\\"se\"]\n[Black \"New\"]\n[Result \"0-1\"]\n",
        "[GameDuration \"01:02:03\"]\n", "[PlyCount \"3\"]\n", "[WhiteTimeControl \"2/60\"]\n",
        "[BlackTimeControl \"10+0.1\"]\n[Termination \"adjudication\"]\n"};
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        assert_has(text, tags[i]);
    assert_has(text, "1. e4 {book} 1... e5 {+0.23/9 1.235s} 2. Nf3 {-M6/3 2.000s, Black wins by\n"
                     "adjudication} 0-1\n\n");
}

static void every_detail_can_be_had(void **state) {
    (void)state;
    scope(free_ptr) char *text = pgn_of((PgnFormat){.nodes = true,
                                                    .seldepth = true,
                                                    .nps = true,
                                                    .hashfull = true,
                                                    .tbhits = true,
                                                    .time_left = true,
                                                    .latency = true,
                                                    .pv = true});
    for (char *newline = text; (newline = strchr(newline, '\n'));)
        *newline = ' ';
    assert_has(text, "{+0.23/9 1.235s, tl=8.965s, latency=0.005s, n=500000, sd=14, nps=405000, "
                     "hashfull=12, tbhits=3, pv=\"e7e5 g1f3\"}");
    assert_has(text, "{-M6/3 2.000s, tl=58.000s, n=0, sd=0, nps=0, hashfull=0, tbhits=0, pv=\"\", "
                     "Black wins by adjudication}");
}

static void minimal_pgn_has_neither_comments_nor_details(void **state) {
    (void)state;
    scope(free_ptr) char *text = pgn_of((PgnFormat){.minimal = true});
    assert_has(text, "[Result \"0-1\"]\n\n1. e4 e5 2. Nf3 0-1\n\n");
    assert_null(strchr(text, '{'));
}

static void other_notations_are_written(void **state) {
    (void)state;
    scope(free_ptr) char *lan = pgn_of((PgnFormat){.minimal = true, .notation = PGN_LAN});
    scope(free_ptr) char *uci = pgn_of((PgnFormat){.minimal = true, .notation = PGN_UCI});
    assert_has(lan, "1. e2e4 e7e5 2. Ng1f3 0-1");
    assert_has(uci, "1. e2e4 e7e5 2. g1f3 0-1");
}

static void a_clock_gets_its_increment_and_its_periods(void **state) {
    (void)state;
    int64_t left_us[GAME_PLIES_MAX];
    GameRecord *record = sample();
    record_clocks(record, engines, left_us);
    assert_int_equal(left_us[1], 10200000 - 1234567);
    assert_int_equal(left_us[2], 58000000);
    game_play(&record->game, move_from_uci(&record->game.now, "b8c6"));
    game_play(&record->game, move_from_uci(&record->game.now, "f1c4"));
    record->moves[3].time_us = 20000000; // past the flag, as a margin allows
    record->moves[4].time_us = 1000000;
    record_clocks(record, engines, left_us);
    assert_int_equal(left_us[3], 100000);
    assert_int_equal(left_us[4], 117000000);
    EngineSpec strict[2] = {engines[0], engines[1]};
    strict[0].limit.owed = strict[1].limit.owed = true;
    record_clocks(record, strict, left_us);
    assert_int_equal(left_us[3], 0); // the increment does not pay it back
}

static void epd_is_the_last_position(void **state) {
    (void)state;
    scope(str_release) Str out;
    str_init(&out, 1 << 10);
    epd_out_game(&out, sample());
    assert_string_equal(out.data, "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - "
                                  "hmvc 1; fmvn 2;\n");
}

static void json_has_a_number_or_null_for_every_move(void **state) {
    (void)state;
    scope(str_release) Str out;
    const MatchTitle title = {.engines = engines, .engine_count = 2};
    const JsonContext context = {&title, 1, 2};
    str_init(&out, 1 << 16);
    match_json_game(&out, &context, sample());
    json_auto_t *game = json_loads(out.data, 0, NULL);
    json_auto_t *wanted = json_loads(
        "{\"type\":\"game\",\"game\":8,\"round\":4,\"pair\":3,\"index\":1,\"white\":\"Ba\\\"se\","
        "\"black\":\"New\",\"result\":\"0-1\",\"end\":\"adjudication\","
        "\"reason\":\"Black wins by adjudication\",\"culprit\":null,\"overloaded\":false,"
        "\"time\":1700000000.0,\"seconds\":3723.0,\"white_rest_us\":0,\"black_rest_us\":7000,"
        "\"fen\":\"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\","
        "\"opening\":[\"e2e4\"],\"moves\":[\"e7e5\",\"g1f3\"],\"times_us\":[1234567,2000000],"
        "\"scores\":[23,-999994],\"depths\":[9,3],\"seldepths\":[14,0],\"nodes\":[500000,0],"
        "\"latencies_us\":[4567,null],\"delays_us\":[4000,null],\"cpus_us\":[1200000,null]}",
        0, NULL);
    assert_non_null(game);
    assert_non_null(wanted);
    if (!json_equal(game, wanted))
        fail_msg("%s", out.data);
    assert_int_equal(out.data[out.size - 1], '\n');
}

static void json_splits_moves_from_any_opening(void **state) {
    (void)state;
    static const int plies[] = {0, 1, 3};
    for (size_t i = 0; i < 3; i++) {
        scope(str_release) Str out;
        const MatchTitle title = {.engines = engines, .engine_count = 2};
        const JsonContext context = {&title, 1, 2};
        GameRecord *record = sample();
        record->opening_plies = plies[i];
        str_init(&out, 1 << 16);
        match_json_game(&out, &context, record);
        json_auto_t *game = json_loads(out.data, 0, NULL);
        assert_int_equal(json_array_size(json_object_get(game, "opening")), plies[i]);
        assert_int_equal(json_array_size(json_object_get(game, "moves")), 3 - plies[i]);
        assert_int_equal(json_array_size(json_object_get(game, "nodes")), 3 - plies[i]);
    }
}

static void the_line_about_time_adds_up(void **state) {
    (void)state;
    scope(free_ptr) Timing *timing = xcalloc(1, sizeof *timing);
    scope(str_release) Str out;
    str_init(&out, 1 << 10);
    timing_report(&out, timing, engines, 2);
    assert_string_equal(out.data, "");
    GameRecord *record = sample();
    record->kind = GAME_END_TIME;
    record->overloaded = true;
    record->rest_us[0] = 2340000;
    timing_add_game(timing, record);
    assert_int_equal(timing->moves, 2);
    assert_int_equal(timing->told, 1);
    assert_int_equal(timing->latency_max_us, 4567);
    double median = timing_quantile_us(timing, 0.5);
    assert_true(median > 4567 / 1.1 && median < 4567 * 1.1);
    timing_report(&out, timing, engines, 2);
    assert_has(out.data, "2 moves, latency median 4.");
    assert_has(out.data, "waited for a CPU 0.1 % of the time, at most 4.0 ms; 1 lost on time, 1 "
                         "of them on a busy machine; New used 2.34 s of CPU time while its "
                         "opponent was to move\n");
}

static void everybody_meets_everybody_or_the_seeds(void **state) {
    (void)state;
    int count;
    MatchPairing *all = tournament_pairings(TOURNAMENT_ROUND_ROBIN, 4, 1, false, &count);
    assert_int_equal(count, 6);
    assert_true(all[0].first == 0 && all[0].second == 1 && all[5].first == 2 && all[5].second == 3);
    free(all);
    MatchPairing *two = tournament_pairings(TOURNAMENT_GAUNTLET, 5, 2, true, &count);
    assert_int_equal(count, 6);
    assert_true(two[0].first == 2 && two[0].second == 0 && two[5].first == 4 && two[5].second == 1);
    free(two);
}

// ---- who computed in its opponent's time --------------------------------------------------------

// Each side made `moves` moves of `time_us`.
static int ponderer_of(int moves, int time_us, int64_t rest_us, int64_t other_rest_us) {
    GameRecord *game scope(free_ptr) = xcalloc(1, sizeof *game);
    game->game.plies = 2 * moves;
    game->rest_us[0] = rest_us;
    game->rest_us[1] = other_rest_us;
    for (int i = 0; i < 2 * moves; i++)
        game->moves[i].time_us = time_us;
    return record_ponderer(game);
}

static void a_ponderer_uses_more_than_2_percent_and_1_ms_a_move(void **state) {
    (void)state;
    assert_int_equal(ponderer_of(50, 100000, 0, 0), -1);
    assert_int_equal(ponderer_of(50, 100000, 100000 + 51000, 0), -1); // 2 % of 5 s, and 51 moves
    assert_int_equal(ponderer_of(50, 100000, 100001 + 51000, 0), 0);
    assert_int_equal(ponderer_of(50, 100000, 0, 100001 + 51000), 1);
    assert_int_equal(ponderer_of(50, 100000, 200000, 300000), 1);
    assert_int_equal(ponderer_of(50, 10, 51000, 51000), -1);
    assert_int_equal(ponderer_of(0, 0, 1000, 0), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pgn_has_the_tags_of_fastchess),
        cmocka_unit_test(every_detail_can_be_had),
        cmocka_unit_test(minimal_pgn_has_neither_comments_nor_details),
        cmocka_unit_test(other_notations_are_written),
        cmocka_unit_test(a_clock_gets_its_increment_and_its_periods),
        cmocka_unit_test(epd_is_the_last_position),
        cmocka_unit_test(json_has_a_number_or_null_for_every_move),
        cmocka_unit_test(json_splits_moves_from_any_opening),
        cmocka_unit_test(the_line_about_time_adds_up),
        cmocka_unit_test(everybody_meets_everybody_or_the_seeds),
        cmocka_unit_test(a_ponderer_uses_more_than_2_percent_and_1_ms_a_move),
    };
    rules_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

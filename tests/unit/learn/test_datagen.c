// What self-play is made of: openings, games, books, and the soft limit of the search.

#include "tests/unit/rules/rules_kit.h"

#include <stdlib.h>
#include <unistd.h>

#include "engine/base/random.h"
#include "engine/commands/bench_positions.h"
#include "engine/commands/opening.h"
#include "engine/learn/meter.h"
#include "engine/learn/selfplay.h"

// ---- the soft limit ----------------------------------------------------------------------------

static SearchResult think(SearchLimits limits) {
    Search *search = search_new(4, 1);
    Root root;
    Position pos = position_of(BENCH_POSITIONS[7]);
    root_init(&root, &pos);
    search_prepare(search, &root, &limits);
    SearchResult result = search_run(search);
    search_free(search);
    return result;
}

static void a_soft_limit_ends_with_the_first_iteration_past_it(void **state) {
    (void)state;
    for (uint64_t limit = 100; limit < 20000; limit *= 3) {
        SearchResult soft = think((SearchLimits){.soft_nodes = limit});
        SearchResult same = think((SearchLimits){.depth = soft.depth});
        assert_true(soft.nodes >= limit);
        assert_int_equal(soft.nodes, same.nodes);
        assert_int_equal(soft.best, same.best);
        if (soft.depth > 1)
            assert_true(think((SearchLimits){.depth = soft.depth - 1}).nodes < limit);
    }
}

// ---- games -------------------------------------------------------------------------------------

static atomic_bool stop;

static Selfplay *player_new(const SelfplayRules *rules) {
    Selfplay *player = calloc(1, sizeof *player);
    player->rules = rules;
    player->search = search_new(1, 1);
    player->stop = &stop;
    return player;
}

static void player_free(Selfplay *player) {
    search_free(player->search);
    free(player);
}

static const SelfplayRules QUICK = {.seed = 3, .limits = {.soft_nodes = 60, .nodes = 1200}};

static size_t game_bytes(Selfplay *player, uint64_t number, uint8_t out[GAMEFILE_RECORD_MAX]) {
    GameFileRecord *record = calloc(1, sizeof *record);
    assert_true(selfplay_game(player, number, record));
    size_t size = gamefile_write_game(record, out);
    free(record);
    return size;
}

static void a_game_depends_on_its_number_alone(void **state) {
    (void)state;
    static uint8_t first[GAMEFILE_RECORD_MAX], again[GAMEFILE_RECORD_MAX];
    Selfplay *one = player_new(&QUICK), *other = player_new(&QUICK);
    size_t size = game_bytes(one, 5, first);
    game_bytes(other, 9, again);
    assert_int_equal(game_bytes(other, 5, again), size);
    assert_memory_equal(first, again, size);
    assert_false(game_bytes(other, 6, again) == size && memcmp(first, again, size) == 0);
    player_free(one);
    player_free(other);
}

static void a_stopped_player_gives_no_game(void **state) {
    (void)state;
    Selfplay *player = player_new(&QUICK);
    GameFileRecord *record = calloc(1, sizeof *record);
    atomic_store(&stop, true);
    assert_false(selfplay_game(player, 1, record));
    atomic_store(&stop, false);
    free(record);
    player_free(player);
}

// Where the streaks of scores that decide a game stand at its end.
static int streak_at_end(const GameFileRecord *game, int least, int most, int from_ply) {
    int streak = 0;
    for (int i = game->plies - 1; i >= 0; i--, streak++)
        if (game->moves[i].score < least || game->moves[i].score > most ||
            game_record_ply(game, i) < from_ply)
            break;
    return streak;
}

static void games_end_by_rule_or_by_a_streak_of_scores(void **state) {
    (void)state;
    Selfplay *player = player_new(&QUICK);
    GameFileRecord *record = calloc(1, sizeof *record);
    int adjudicated = 0;
    for (uint64_t number = 0; number < 40; number++) {
        assert_true(selfplay_game(player, number, record));
        assert_true(record->plies > 0);
        GameEnd end = game_end(&player->game);
        if (end != END_NONE) {
            GameResult result = game_result(&player->game, end);
            assert_int_equal(record->result, result == RESULT_DRAW         ? 1
                                             : result == RESULT_WHITE_WINS ? 2
                                                                           : 0);
            continue;
        }
        adjudicated++;
        if (record->result == 1)
            assert_int_equal(streak_at_end(record, -DRAW_SCORE, DRAW_SCORE, DRAW_FROM_PLY),
                             DRAW_PLIES);
        else
            assert_int_equal(record->result == 2
                                 ? streak_at_end(record, WIN_SCORE, SCORE_MATE, 0)
                                 : streak_at_end(record, -SCORE_MATE, -WIN_SCORE, 0),
                             WIN_PLIES);
    }
    assert_true(adjudicated > 0);
    free(record);
    player_free(player);
}

static void half_of_the_openings_have_an_odd_ply(void **state) {
    (void)state;
    int odd = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t random = random_stream(1, i);
        Position pos;
        opening_start(&random, false, &pos);
        if (!opening_walk(&random, 8, &pos))
            continue;
        assert_true(pos.fullmove == 5);
        assert_false(pos.checkers != 0);
        odd += pos.side == BLACK;
    }
    assert_in_range(odd, 400, 600);
}

static void streams_of_random_numbers_have_nothing_in_common(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 3; seed++)
        for (uint64_t a = 0; a < 100; a++)
            for (uint64_t b = 0; b < a; b++)
                assert_true(random_stream(seed, a) != random_stream(seed, b));
    assert_true(random_stream(1, 0) != random_stream(0, 1));
}

// ---- books -------------------------------------------------------------------------------------

static char *file_of(const char *text, char path[64]) {
    snprintf(path, 64, "/tmp/patchmate-book-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return path;
}

static void a_book_gives_the_position_of_each_line(void **state) {
    (void)state;
    char path[64], fen[FEN_MAX];
    EpdBook book;
    Refusal err;
    Position pos;
    file_of("# a comment\n\n4k3/8/8/8/8/8/8/4K2R w K - id \"one\";\r\n4k3/8/8/8/8/8/8/R3K3 b - -",
            path);
    assert_true(epd_book_load(&book, path, false, &err));
    assert_int_equal(book.count, 2);
    epd_book_position(&book, 1, &pos);
    assert_string_equal(position_to_fen(&pos, fen), "4k3/8/8/8/8/8/8/R3K3 b - - 0 1");
    epd_book_release(&book);
    unlink(path);
}

static void books_are_refused_with_the_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *reason;
    } rows[] = {
        {"", "no position"},
        {"# nothing\n", "no position"},
        {"4k3/8/8/8/8/8/8/4K2R w K -\n\nnonsense\n", "line 3: "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[64];
        EpdBook book;
        Refusal err;
        assert_false(epd_book_load(&book, file_of(rows[i].text, path), false, &err));
        unlink(path);
        if (!strstr(err.message, rows[i].reason))
            fail_msg("%s", err.message);
    }
}

static void a_book_whose_lines_are_lost_does_not_hold_up_a_run(void **state) {
    (void)state;
    char path[64];
    EpdBook book;
    Refusal err;
    assert_true(epd_book_load(&book, file_of("4k3/8/8/8/8/8/8/QQQQK3 w - -\n", path), false, &err));
    SelfplayRules rules = QUICK;
    rules.book = &book;
    rules.book_percent = 100;
    Selfplay *player = player_new(&rules);
    GameFileRecord *record = calloc(1, sizeof *record);
    assert_true(selfplay_game(player, 0, record));
    assert_true(record->plies > 0);
    free(record);
    player_free(player);
    epd_book_release(&book);
    unlink(path);
}

// ---- the rest ----------------------------------------------------------------------------------

static void counts_have_commas(void **state) {
    (void)state;
    char text[METER_TEXT_MAX];
    assert_string_equal(meter_count(0, text), "0");
    assert_string_equal(meter_count(999, text), "999");
    assert_string_equal(meter_count(1000, text), "1,000");
    assert_string_equal(meter_count(UINT64_MAX, text), "18,446,744,073,709,551,615");
}

static void durations_have_the_two_units_that_matter(void **state) {
    (void)state;
    char text[METER_TEXT_MAX];
    assert_string_equal(meter_duration(59, text), "59 s");
    assert_string_equal(meter_duration(60, text), "1 min");
    assert_string_equal(meter_duration(2 * 3600 + 5 * 60 + 1, text), "2 h 5 min");
    assert_string_equal(meter_duration(86400 + 23 * 3600, text), "1 d 23 h");
}

int main(void) {
    rules_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_soft_limit_ends_with_the_first_iteration_past_it),
        cmocka_unit_test(a_game_depends_on_its_number_alone),
        cmocka_unit_test(a_stopped_player_gives_no_game),
        cmocka_unit_test(games_end_by_rule_or_by_a_streak_of_scores),
        cmocka_unit_test(half_of_the_openings_have_an_odd_ply),
        cmocka_unit_test(streams_of_random_numbers_have_nothing_in_common),
        cmocka_unit_test(a_book_gives_the_position_of_each_line),
        cmocka_unit_test(books_are_refused_with_the_line),
        cmocka_unit_test(a_book_whose_lines_are_lost_does_not_hold_up_a_run),
        cmocka_unit_test(counts_have_commas),
        cmocka_unit_test(durations_have_the_two_units_that_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

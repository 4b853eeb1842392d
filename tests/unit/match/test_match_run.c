// The match runner as a library, with toy engines as processes (worker/match/match.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "server/common/str.h"
#include "tests/kit/match_kit.h"

enum { GAMES_MAX = 64 };

typedef struct Seen {
    Match *match;
    int finish_at, abort_at; // games started, games ended; 0: never
    int started, games, pairs, order[GAMES_MAX];
    int game_order[GAMES_MAX]; // pair of each game, as they ended
    int kinds[GAMES_MAX];
    int rest, rest_pair; // games that on_rest saw, pair of the last
    bool colours_right;
} Seen;

static const char *toy_argv[2][4] = {{kit_toy, "ok", "0", NULL}, {kit_toy, "ok", "0", NULL}};

static Opening opening(void *ctx, int pair) {
    (void)ctx;
    // Only the first pair starts from move 1, which is where the toy's "slowstart" sleeps.
    return pair == 0 ? (Opening){0} : (Opening){.moves = "e2e4 e7e5"};
}

static void on_start(void *ctx, const GameRecord *game) {
    Seen *seen = ctx;
    assert_int_equal(game->index, game->white);
    if (++seen->started == seen->finish_at)
        match_finish(seen->match);
}

static void on_game(void *ctx, const GameRecord *game) {
    Seen *seen = ctx;
    seen->kinds[seen->games] = (int)game->kind;
    seen->game_order[seen->games++] = game->pair;
    if (seen->games == seen->abort_at)
        match_abort(seen->match);
}

static void on_pair(void *ctx, int pair, const GameRecord games[2]) {
    Seen *seen = ctx;
    seen->order[seen->pairs++] = pair;
    seen->colours_right &= games[0].white == 0 && games[1].white == 1 && games[0].pair == pair &&
                           games[1].pair == pair && games[0].result != RESULT_NONE;
}

static void on_rest(void *ctx, const GameRecord *game) {
    Seen *seen = ctx;
    assert_true(game->pair >= seen->rest_pair && game->kind != GAME_END_ABORTED);
    seen->rest_pair = game->pair;
    seen->rest++;
}

static MatchSpec spec_for(Seen *seen, int pairs, int slots) {
    MatchSpec spec = kit_match(toy_argv[0]);
    kit_engines[1].argv = toy_argv[1];
    spec.pair_count = pairs;
    spec.slots = slots;
    spec.opening = opening;
    spec.pin = true;
    spec.on_start = on_start;
    spec.on_game = on_game;
    spec.on_pair = on_pair;
    spec.on_rest = on_rest;
    spec.ctx = seen;
    return spec;
}

static bool play(Seen *seen, const MatchSpec *spec, Error *err) {
    seen->colours_right = true;
    seen->match = match_new(spec);
    return match_run(seen->match, err);
}

static void pairs_are_reported_in_order_though_games_end_in_another(void **state) {
    (void)state;
    Seen seen = {0};
    Error err;
    toy_argv[0][1] = "slowstart";
    MatchSpec spec = spec_for(&seen, 8, 3);
    bool played = play(&seen, &spec, &err);
    toy_argv[0][1] = "ok";
    assert_true(played);
    assert_int_equal(seen.pairs, 8);
    assert_int_equal(seen.games, 16);
    assert_int_not_equal(seen.game_order[0] + seen.game_order[1], 0);
    for (int i = 0; i < 8; i++)
        assert_int_equal(seen.order[i], i);
    assert_true(seen.colours_right);
    match_free(seen.match);
}

static void a_match_resumes_at_a_later_pair(void **state) {
    (void)state;
    Seen seen = {0};
    Error err;
    MatchSpec spec = spec_for(&seen, 3, 1);
    spec.pair_first = 10;
    assert_true(play(&seen, &spec, &err));
    assert_int_equal(seen.order[0], 10);
    assert_int_equal(seen.order[2], 12);
    assert_int_equal(match_next_pair(seen.match), 13);
    assert_int_equal(match_plies(seen.match), 6 * 10);
    match_free(seen.match);
}

static void finishing_ends_the_pairs_begun_and_starts_no_other(void **state) {
    (void)state;
    for (int slots = 1; slots <= 2; slots++) {
        Seen seen = {.finish_at = 3};
        Error err;
        MatchSpec spec = spec_for(&seen, 30, slots);
        assert_true(play(&seen, &spec, &err));
        assert_int_equal(seen.pairs, 2);
        assert_int_equal(seen.games, 4);
        assert_int_equal(match_next_pair(seen.match), 2);
        match_free(seen.match);
    }
}

static void aborting_drops_the_games_that_run_and_reports_those_that_ended(void **state) {
    (void)state;
    for (int slots = 1; slots <= 2; slots++) {
        Seen seen = {.abort_at = 3};
        Error err;
        MatchSpec spec = spec_for(&seen, 30, slots);
        assert_true(play(&seen, &spec, &err));
        assert_in_range(seen.games, 3, slots + 2);
        int ended = 0;
        for (int i = 0; i < seen.games; i++)
            ended += seen.kinds[i] == GAME_END_ADJUDICATION;
        assert_in_range(seen.pairs, 0, 2);
        assert_int_equal(2 * seen.pairs + seen.rest, ended);
        assert_true(seen.rest == 0 || seen.rest_pair >= seen.pairs);
        match_free(seen.match);
    }
}

static void a_match_aborted_before_it_runs_plays_nothing(void **state) {
    (void)state;
    Seen seen = {0};
    Error err;
    MatchSpec spec = spec_for(&seen, 3, 1);
    Match *match = match_new(&spec);
    match_abort(match);
    assert_true(match_run(match, &err));
    assert_int_equal(seen.started, 0);
    match_free(match);
}

static void an_engine_that_cannot_start_ends_the_match_with_its_name(void **state) {
    (void)state;
    Seen seen = {0};
    Error err;
    MatchSpec spec = spec_for(&seen, 3, 2);
    const char *const nothing[] = {"/nowhere/engine", NULL};
    kit_engines[1].argv = nothing;
    assert_false(play(&seen, &spec, &err));
    assert_non_null(strstr(err.message, "B: cannot start /nowhere/engine"));
    for (int i = 0; i < seen.games; i++)
        assert_int_equal(seen.kinds[i], GAME_END_ABORTED);
    match_free(seen.match);
}

// SIGPIPE would end this very program.
static void an_engine_that_closes_its_input_loses_and_nothing_else(void **state) {
    (void)state;
    Seen seen = {0};
    Error err;
    toy_argv[1][1] = "closestdin";
    MatchSpec spec = spec_for(&seen, 2, 1);
    bool played = play(&seen, &spec, &err);
    toy_argv[1][1] = "ok";
    assert_true(played);
    for (int i = 0; i < 4; i++)
        assert_int_equal(seen.kinds[i], GAME_END_CRASH);
    match_free(seen.match);
}

static Opening bad_opening(void *ctx, int pair) {
    (void)ctx;
    return pair == 1 ? (Opening){.moves = "e2e4 e2e4"} : (Opening){0};
}

static void an_opening_that_cannot_be_played_ends_the_match(void **state) {
    (void)state;
    Seen seen = {0};
    Error err;
    MatchSpec spec = spec_for(&seen, 3, 1);
    spec.opening = bad_opening;
    assert_false(play(&seen, &spec, &err));
    assert_string_equal(err.message, "opening 2: e2e4 cannot be played");
    assert_int_equal(seen.pairs, 1);
    match_free(seen.match);
}

static void a_spec_that_makes_no_match_is_refused(void **state) {
    (void)state;
    Seen seen = {0};
    Error err;
    MatchSpec spec = spec_for(&seen, 3, 1);
    kit_engines[1].limit = (MatchLimit){0};
    assert_false(play(&seen, &spec, &err));
    match_free(seen.match);
    spec = spec_for(&seen, 3, 0);
    assert_false(play(&seen, &spec, &err));
    match_free(seen.match);
}

// ---- any number of engines ----------------------------------------------------------------------

enum { CROWD = 4 };
static const MatchPairing round_robin[] = {{0, 1}, {2, 0}, {1, 2}};

typedef struct Table {
    int games, pairs, met[CROWD][CROWD]; // games with the first as White
    bool plausible;
} Table;

static void note_players(void *ctx, const GameRecord *game) {
    Table *table = ctx;
    int white = game->players[game->white], black = game->players[1 - game->white];
    table->plausible &= game->kind == GAME_END_ADJUDICATION && game->lasted_us > 0 &&
                        game->started_us > INT64_C(1700000000000000);
    table->met[white][black]++;
    table->games++;
}

static void note_pair(void *ctx, int pair, const GameRecord games[2]) {
    Table *table = ctx;
    const MatchPairing *wanted = &round_robin[pair % 3];
    table->plausible &= games[0].players[0] == wanted->first &&
                        games[0].players[1] == wanted->second && pair == table->pairs;
    table->pairs++;
}

static MatchSpec crowd_spec(Table *table, EngineSpec crowd[CROWD], int pairs) {
    MatchSpec spec = spec_for(NULL, pairs, 1);
    static const char *const names[CROWD] = {"A", "B", "C", "D"};
    for (int i = 0; i < CROWD; i++) {
        crowd[i] = kit_engines[0];
        crowd[i].name = names[i];
    }
    *table = (Table){.plausible = true};
    spec.engines = crowd;
    spec.engine_count = 3;
    spec.pairings = round_robin;
    spec.pairing_count = 3;
    spec.on_start = NULL;
    spec.on_rest = NULL;
    spec.on_game = note_players;
    spec.on_pair = note_pair;
    spec.ctx = table;
    return spec;
}

static void every_pairing_of_a_round_is_played_with_both_colours(void **state) {
    (void)state;
    for (int slots = 1; slots <= 2; slots++) {
        Table table;
        EngineSpec crowd[CROWD];
        Error err;
        MatchSpec spec = crowd_spec(&table, crowd, 6);
        spec.slots = slots;
        Match *match = match_new(&spec);
        assert_true(match_run(match, &err));
        match_free(match);
        assert_true(table.plausible);
        assert_int_equal(table.games, 12);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                assert_int_equal(table.met[i][j], i == j ? 0 : 2);
    }
}

static void with_one_game_a_pair_colours_change_from_round_to_round(void **state) {
    (void)state;
    Table table;
    EngineSpec crowd[CROWD];
    Error err;
    MatchSpec spec = crowd_spec(&table, crowd, 6);
    spec.games_per_pair = 1;
    Match *match = match_new(&spec);
    assert_true(match_run(match, &err));
    match_free(match);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            assert_int_equal(table.met[i][j], i == j ? 0 : 1);
}

static void without_swap_the_first_engine_always_has_white(void **state) {
    (void)state;
    Table table;
    EngineSpec crowd[CROWD];
    Error err;
    MatchSpec spec = crowd_spec(&table, crowd, 3);
    spec.no_swap = true;
    Match *match = match_new(&spec);
    assert_true(match_run(match, &err));
    match_free(match);
    for (int i = 0; i < 3; i++)
        assert_int_equal(table.met[round_robin[i].first][round_robin[i].second], 2);
}

// Each start of the engine adds a byte to the file.
static long starts_of(const char *file) {
    struct stat info;
    return stat(file, &info) == 0 ? (long)info.st_size : 0;
}

// The first pairing starts two engines; each later one finds one of its two already there.
static void an_engine_of_two_pairings_in_a_row_is_kept(void **state) {
    (void)state;
    Table table;
    EngineSpec crowd[CROWD];
    Error err;
    char file[] = "/tmp/match-starts-XXXXXX", command[1024];
    close(mkstemp(file));
    snprintf(command, sizeof command, "printf x >>%s; exec %s", file, kit_toy);
    const char *const argv[] = {"/bin/sh", "-c", command, NULL};
    MatchSpec spec = crowd_spec(&table, crowd, 3);
    for (int i = 0; i < CROWD; i++)
        crowd[i].argv = argv;
    Match *match = match_new(&spec);
    bool played = match_run(match, &err);
    match_free(match);
    long starts = starts_of(file);
    unlink(file);
    assert_true(played);
    assert_int_equal(starts, 4);
}

static void only_the_engine_that_asks_for_it_gets_a_process_a_game(void **state) {
    (void)state;
    Seen seen = {0};
    Error err;
    char file[] = "/tmp/match-starts-XXXXXX", command[1024];
    close(mkstemp(file));
    snprintf(command, sizeof command, "printf x >>%s; exec %s", file, kit_toy);
    const char *const argv[] = {"/bin/sh", "-c", command, NULL};
    MatchSpec spec = spec_for(&seen, 2, 1);
    kit_engines[0].argv = kit_engines[1].argv = argv;
    kit_engines[1].restart = true;
    bool played = play(&seen, &spec, &err);
    match_free(seen.match);
    long starts = starts_of(file);
    unlink(file);
    assert_true(played);
    assert_int_equal(starts, 1 + 4);
}

static void a_pairing_that_names_no_two_engines_is_refused(void **state) {
    (void)state;
    static const MatchPairing wrong[] = {{0, 3}, {1, 1}, {-1, 0}};
    for (int i = 0; i < 3; i++) {
        Table table;
        EngineSpec crowd[CROWD];
        Error err;
        MatchSpec spec = crowd_spec(&table, crowd, 1);
        spec.pairings = &wrong[i];
        spec.pairing_count = 1;
        Match *match = match_new(&spec);
        assert_false(match_run(match, &err));
        match_free(match);
    }
}

int main(void) {
    if (!kit_toy_found())
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_reported_in_order_though_games_end_in_another),
        cmocka_unit_test(a_match_resumes_at_a_later_pair),
        cmocka_unit_test(finishing_ends_the_pairs_begun_and_starts_no_other),
        cmocka_unit_test(aborting_drops_the_games_that_run_and_reports_those_that_ended),
        cmocka_unit_test(a_match_aborted_before_it_runs_plays_nothing),
        cmocka_unit_test(an_engine_that_cannot_start_ends_the_match_with_its_name),
        cmocka_unit_test(an_engine_that_closes_its_input_loses_and_nothing_else),
        cmocka_unit_test(an_opening_that_cannot_be_played_ends_the_match),
        cmocka_unit_test(a_spec_that_makes_no_match_is_refused),
        cmocka_unit_test(every_pairing_of_a_round_is_played_with_both_colours),
        cmocka_unit_test(with_one_game_a_pair_colours_change_from_round_to_round),
        cmocka_unit_test(without_swap_the_first_engine_always_has_white),
        cmocka_unit_test(an_engine_of_two_pairings_in_a_row_is_kept),
        cmocka_unit_test(only_the_engine_that_asks_for_it_gets_a_process_a_game),
        cmocka_unit_test(a_pairing_that_names_no_two_engines_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

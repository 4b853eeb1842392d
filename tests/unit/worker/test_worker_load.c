// What a machine was like while it played: sums over moves, marks, and what is told to the server.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "engine/rules/notation.h"
#include "server/common/str.h"
#include "tests/kit/worker_kit.h"
#include "worker/results/batch_load.h"

static void play_text(GameRecord *game, const char *text, int64_t nodes, int time_us,
                      int delay_us) {
    Move move = move_from_uci(&game->game.now, text);
    assert_true(move != MOVE_NONE);
    game->moves[game->game.plies] =
        (MoveRecord){.move = move, .time_us = time_us, .nodes = nodes, .delay_us = delay_us};
    game_play(&game->game, move);
}

// One opening move, then Black, White and Black. `white` is the engine that has White. New.
static GameRecord *make_game(int white) {
    Position start;
    Refusal err;
    GameRecord *game = xcalloc(1, sizeof *game);
    rules_init();
    assert_true(position_from_fen(&start, POSITION_START_FEN, false, &err));
    *game = (GameRecord){.white = white, .culprit = -1, .opening_plies = 1};
    game_init(&game->game, &start);
    play_text(game, "e2e4", 0, 0, 0);
    play_text(game, "c7c5", 1000, 100000, 10000);
    play_text(game, "g1f3", 50000, 200000, -1);
    play_text(game, "d7d6", 3000, 300000, 30000);
    return game;
}

static void speed_is_that_of_the_base_whatever_its_colour(void **state) {
    (void)state;
    for (int white = 0; white < 2; white++) {
        LoadMeter meter;
        GameRecord *game scope(free_ptr) = make_game(white);
        load_begin(&meter);
        load_add(&meter, game);
        BatchLoad load = load_end(&meter, 0);
        // Engine 1 is the base: with White it made the one move in the middle.
        assert_float_equal(load.speed, white == 1 ? 250000 : 10000, 1);
        assert_float_equal(load.speed_before, load.speed, 1e-9);
    }
}

static void what_a_side_uses_while_it_is_not_to_move_is_summed(void **state) {
    (void)state;
    LoadMeter meter;
    GameRecord *game scope(free_ptr) = make_game(0);
    game->rest_us[0] = 502500; // 2 ms are free with three plies
    game->rest_us[1] = 1000;
    load_begin(&meter);
    load_add(&meter, game);
    load_add(&meter, game);
    BatchLoad load = load_end(&meter, 0);
    assert_float_equal(load.rest[0], 1.001, 1e-9);
    assert_float_equal(load.rest[1], 0, 1e-9);
}

static void the_first_batch_of_a_task_is_what_later_ones_are_held_against(void **state) {
    (void)state;
    LoadMeter meter;
    GameRecord *game scope(free_ptr) = make_game(0);
    load_begin(&meter);
    load_add(&meter, game);
    assert_float_equal(load_end(&meter, 40000).speed_before, 40000, 1e-9);
}

static void delay_is_a_share_of_the_moves_for_which_it_was_measured(void **state) {
    (void)state;
    LoadMeter meter;
    GameRecord *game scope(free_ptr) = make_game(0);
    load_begin(&meter);
    load_add(&meter, game);
    BatchLoad load = load_end(&meter, 0);
    assert_float_equal(load.delay, 0.1, 1e-9);
    assert_true(load.steal >= 0 && load.steal <= 1 && load.swap_mib >= 0);
}

static void a_batch_without_moves_has_no_speed(void **state) {
    (void)state;
    LoadMeter meter;
    load_begin(&meter);
    BatchLoad load = load_end(&meter, 0);
    json_auto_t *root = load_to_json(&load);
    assert_true(json_is_null(json_object_get(root, "speed")));
    assert_true(json_is_null(json_object_get(root, "speed_before")));
}

static void a_load_has_the_members_that_the_api_names(void **state) {
    (void)state;
    const BatchLoad load = {
        .delay = 0.01, .swap_mib = 2, .speed = 90, .speed_before = 100, .rest = {0.5, 0.25}};
    json_auto_t *example = kit_api_example("batch.request"), *got = load_to_json(&load);
    json_t *wanted = json_object_get(example, "load");
    const char *name;
    json_t *value;
    json_object_foreach (wanted, name, value)
        assert_non_null(json_object_get(got, name));
    assert_int_equal(json_object_size(got), json_object_size(wanted));
}

static void a_mark_names_what_is_wrong_with_the_machine(void **state) {
    (void)state;
    const struct {
        BatchLoad load;
        double busy;
        const char *says; // NULL: no mark
    } cases[] = {
        {{.delay = 0.1, .steal = 0.1, .swap_mib = 64, .speed = 75, .speed_before = 100}, 0.1, NULL},
        {{.delay = 0}, 0, NULL},
        {{.speed = 100, .speed_before = 100}, 0.11, "busy"},
        {{.steal = 0.11, .speed = 100, .speed_before = 100}, 0, "host"},
        {{.delay = 0.11, .speed = 100, .speed_before = 100}, 0, "wait for a CPU"},
        {{.speed = 74, .speed_before = 100}, 0, "74 %"},
        {{.swap_mib = 65, .speed = 100, .speed_before = 100}, 0, "swap"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[LOAD_TEXT_MAX];
        const char *mark = load_flag(&cases[i].load, cases[i].busy, text);
        if (!cases[i].says != !mark || (mark && !strstr(mark, cases[i].says)))
            fail_msg("%zu: %s", i, mark ? mark : "no mark");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(speed_is_that_of_the_base_whatever_its_colour),
        cmocka_unit_test(what_a_side_uses_while_it_is_not_to_move_is_summed),
        cmocka_unit_test(the_first_batch_of_a_task_is_what_later_ones_are_held_against),
        cmocka_unit_test(delay_is_a_share_of_the_moves_for_which_it_was_measured),
        cmocka_unit_test(a_batch_without_moves_has_no_speed),
        cmocka_unit_test(a_load_has_the_members_that_the_api_names),
        cmocka_unit_test(a_mark_names_what_is_wrong_with_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

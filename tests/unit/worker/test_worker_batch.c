// From games to what is sent: counts, JSON lines, the spool on disk.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/rules/notation.h"
#include "server/common/file.h"
#include "server/common/hash.h"
#include "server/ledger/replay.h"
#include "tests/kit/repo_kit.h"
#include "tests/kit/worker_kit.h"
#include "worker/results/batch.h"

static const Opening king_pawn = {POSITION_START_FEN, "e2e4 c7c5"};
static const GameContext context = {
    &king_pawn,
    640,
    {{.base_ms = 10000, .increment_ms = 100}, {.base_ms = 8000, .increment_ms = 50}}};

static void play_text(GameRecord *game, const char *text) {
    Move move = move_from_uci(&game->game.now, text);
    assert_true(move != MOVE_NONE);
    game->moves[game->game.plies] =
        (MoveRecord){.move = move, .time_us = 120000, .score_cp = 31, .depth = 14, .nodes = 81234};
    game_play(&game->game, move);
}

// Two moves after the opening, then the result that the caller names.
static void make_game(GameRecord *game, int white, GameResult result, GameEndKind kind) {
    Position start;
    Refusal err;
    rules_init();
    assert_true(position_from_fen(&start, POSITION_START_FEN, false, &err));
    *game = (GameRecord){.white = white, .result = result, .kind = kind, .culprit = -1};
    snprintf(game->reason, sizeof game->reason, "White \"mates\"");
    game_init(&game->game, &start);
    play_text(game, "e2e4");
    play_text(game, "c7c5");
    game->opening_plies = 2;
    play_text(game, "g1f3");
    play_text(game, "d7d6");
}

// A pair in which the new side (engine 0) has White first. New.
static GameRecord *make_pair(GameResult first, GameResult second) {
    GameRecord *games = xcalloc(2, sizeof *games);
    make_game(&games[0], 0, first, GAME_END_RULE);
    make_game(&games[1], 1, second, GAME_END_RULE);
    return games;
}

static const GameResult W = RESULT_WHITE_WINS, D = RESULT_DRAW, B = RESULT_BLACK_WINS;

static void a_pair_counts_in_half_points_of_the_new_side(void **state) {
    (void)state;
    // New has White in the first game and Black in the second.
    const struct {
        GameResult first, second;
        char digit;
    } cases[] = {{B, W, '0'}, {B, D, '1'}, {D, W, '1'}, {D, D, '2'}, {W, W, '2'},
                 {B, B, '2'}, {W, D, '3'}, {D, B, '3'}, {W, B, '4'}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scope(batch_release) GameBatch batch;
        GameRecord *games scope(free_ptr) = make_pair(cases[i].first, cases[i].second);
        batch_init(&batch, 1, 0, 1);
        batch_add(&batch, games, &context);
        assert_int_equal(batch.outcomes[0], cases[i].digit);
        assert_true(batch_is_full(&batch));
        assert_int_equal(batch.wins + batch.losses + batch.draws, 2);
        assert_int_equal(2 * batch.wins + batch.draws, cases[i].digit - '0');
    }
}

static void faults_of_either_side_are_counted_apart(void **state) {
    (void)state;
    scope(batch_release) GameBatch batch;
    batch_init(&batch, 1, 0, 3);
    static const GameEndKind kinds[] = {GAME_END_TIME,  GAME_END_CRASH, GAME_END_ILLEGAL,
                                        GAME_END_STALL, GAME_END_RULE,  GAME_END_ADJUDICATION};
    for (int pair = 0; pair < 3; pair++) {
        GameRecord *games scope(free_ptr) = make_pair(W, W);
        games[0].kind = kinds[2 * pair];
        games[1].kind = kinds[2 * pair + 1];
        batch_add(&batch, games, &context);
    }
    assert_int_equal(batch.time_losses, 1);
    assert_int_equal(batch.crashes, 3);
}

static void a_side_that_computes_in_its_opponents_time_is_counted(void **state) {
    (void)state;
    scope(batch_release) GameBatch batch;
    batch_init(&batch, 1, 0, 2);
    for (int pair = 0; pair < 2; pair++) {
        GameRecord *games scope(free_ptr) = pair ? make_pair(B, W) : make_pair(W, W);
        games[0].kind = games[1].kind = GAME_END_PONDER;
        batch_add(&batch, games, &context);
    }
    assert_int_equal(batch.ponders[0], 3);
    assert_int_equal(batch.ponders[1], 1);
    assert_int_equal(batch.crashes + batch.time_losses, 0);
}

// As many plies as a game can have, with numbers as long as those of an hour's game on a fast
// machine.
static void make_longest_game(GameRecord *game) {
    static const char *const shuffle[] = {"f3g1", "g8f6", "g1f3", "f6g8"};
    uint64_t random = 1;
    make_game(game, 0, D, GAME_END_RULE);
    while (game->game.plies < GAME_PLIES_MAX) {
        random = random * 6364136223846793005ULL + 1442695040888963407ULL;
        Move move = move_from_uci(&game->game.now, shuffle[game->game.plies % 4]);
        assert_true(move != MOVE_NONE);
        game->moves[game->game.plies] = (MoveRecord){.move = move,
                                                     .time_us = (int32_t)(random >> 42),
                                                     .score_cp = (int32_t)(random >> 50) - 8192,
                                                     .depth = 10 + (int32_t)(random >> 58),
                                                     .nodes = (int64_t)(random >> 31)};
        game_play(&game->game, move);
    }
}

// server/replay.h: what the server takes of a batch is measured by this.
static void the_longest_game_is_within_what_the_server_takes(void **state) {
    (void)state;
    static const GameContext hours = {
        &king_pawn, 399999, {{.base_ms = 7200000}, {.base_ms = 7200000}}};
    scope(str_release) Str line, packed;
    GameRecord *game scope(free_ptr) = xmalloc(sizeof *game);
    make_longest_game(game);
    str_init(&line, 1 << 20);
    str_init(&packed, 1 << 20);
    games_json_add(&line, game, &hours);
    zstd_compress(line.data, line.size, 9, &packed);
    print_message("%zu bytes, packed %zu\n", line.size, packed.size);
    assert_in_range(line.size, GAME_LINE_MAX / 3, GAME_LINE_MAX);
    assert_in_range(packed.size, GAME_PACKED_MAX / 2, GAME_PACKED_MAX);
}

static json_t *game_line(const GameRecord *game) {
    scope(str_release) Str line;
    str_init(&line, 1 << 20);
    games_json_add(&line, game, &context);
    assert_int_equal(line.data[line.size - 1], '\n');
    json_t *root = json_loadb(line.data, line.size, 0, NULL);
    assert_non_null(root);
    return root;
}

static void a_game_has_the_members_that_the_api_names(void **state) {
    (void)state;
    GameRecord *games scope(free_ptr) = make_pair(W, B);
    json_auto_t *got = game_line(&games[0]), *example = kit_api_example("game");
    const char *name;
    json_t *value;
    json_object_foreach (example, name, value) {
        json_t *ours = json_object_get(got, name);
        if (!ours || json_typeof(ours) != json_typeof(value))
            fail_msg("%s is missing or of another type", name);
    }
    assert_int_equal(json_object_size(got), json_object_size(example));
    assert_string_equal(json_string_value(json_object_get(got, "moves")), "g1f3 d7d6");
    assert_string_equal(json_string_value(json_object_get(got, "reason")), "White \"mates\"");
    assert_string_equal(json_string_value(json_object_get(got, "result")), "1-0");
}

static json_int_t clock_of(const json_t *game, size_t i) {
    return json_integer_value(json_array_get(json_object_get(game, "clock_ms"), i));
}

static void clocks_belong_to_the_engine_that_moved(void **state) {
    (void)state;
    GameRecord *games scope(free_ptr) = make_pair(W, B);
    json_auto_t *first = game_line(&games[0]), *second = game_line(&games[1]);
    assert_int_equal(clock_of(first, 0), 10000 + 100 - 120); // engine 0 has White
    assert_int_equal(clock_of(first, 1), 8000 + 50 - 120);
    assert_int_equal(clock_of(second, 0), 8000 + 50 - 120);
    assert_string_equal(json_string_value(json_object_get(second, "new_is")), "black");
}

static void a_move_without_a_score_has_null(void **state) {
    (void)state;
    GameRecord *games scope(free_ptr) = make_pair(W, B);
    games[0].moves[2].score_cp = UCI_SCORE_NONE;
    json_auto_t *got = game_line(&games[0]);
    assert_true(json_is_null(json_array_get(json_object_get(got, "scores"), 0)));
    assert_int_equal(json_integer_value(json_array_get(json_object_get(got, "scores"), 1)), 31);
}

// New.
static SpoolItem *make_item(int64_t task, int seq) {
    scope(batch_release) GameBatch batch;
    GameRecord *games scope(free_ptr) = make_pair(W, D);
    const BatchFacts facts = {"10.000+0.100", 812345, 0.02, NULL};
    batch_init(&batch, task, seq, 1);
    batch_add(&batch, games, &context);
    return batch_finish(&batch, &facts);
}

static void a_batch_has_the_members_that_the_api_names(void **state) {
    (void)state;
    SpoolItem *item = make_item(311, 0);
    json_auto_t *example = kit_api_example("batch.request");
    const char *name;
    json_t *value;
    json_object_update_new(item->counts, json_pack("{s:n, s:n}", "key", "signature")); // later
    json_object_del(example, "load"); // may be absent
    json_object_foreach (example, name, value)
        assert_non_null(json_object_get(item->counts, name));
    assert_int_equal(json_object_size(item->counts), json_object_size(example));
    assert_int_equal(json_integer_value(json_object_get(item->counts, "thought")), 4 * 120);
    char hash[SHA256_HEX_MAX];
    assert_string_equal(json_string_value(json_object_get(item->counts, "games_sha256")),
                        sha256_hex(item->bytes, item->size, hash));
    spool_item_free(item);
}

static void the_spool_gives_back_what_was_written_in_order(void **state) {
    (void)state;
    Error err;
    char *folder scope(kit_folder_drop) = kit_folder();
    char *spool scope(free_ptr) = xasprintf("%s/spool", folder);
    const int order[][2] = {{12, 1}, {9, 3}, {12, 0}, {9, 10}};
    for (int i = 0; i < 4; i++) {
        SpoolItem *item = make_item(order[i][0], order[i][1]);
        assert_true(spool_write(spool, item, &err));
        spool_item_free(item);
    }
    int count;
    SpoolItem **items scope(free_ptr) = spool_read(spool, &count);
    assert_int_equal(count, 4);
    const int wanted[][2] = {{9, 3}, {9, 10}, {12, 0}, {12, 1}};
    for (int i = 0; i < 4; i++) {
        char hash[SHA256_HEX_MAX];
        assert_int_equal(items[i]->task, wanted[i][0]);
        assert_int_equal(items[i]->seq, wanted[i][1]);
        assert_string_equal(json_string_value(json_object_get(items[i]->counts, "games_sha256")),
                            sha256_hex(items[i]->bytes, items[i]->size, hash));
        spool_remove(spool, items[i]);
        spool_item_free(items[i]);
    }
    assert_null(spool_read(spool, &count));
    assert_int_equal(rmdir(spool), 0); // nothing is left over
}

static bool is_aside(const char *folder, const char *name) {
    char *path scope(free_ptr) = xasprintf("%s/refused/%s", folder, name);
    return access(path, F_OK) == 0;
}

static void a_spooled_batch_whose_games_are_gone_is_put_aside(void **state) {
    (void)state;
    Error err;
    char *folder scope(kit_folder_drop) = kit_folder();
    SpoolItem *item = make_item(7, 0);
    assert_true(spool_write(folder, item, &err));
    spool_item_free(item);
    char *games scope(free_ptr) = xasprintf("%s/0000000007-000000.games.zst", folder);
    assert_int_equal(unlink(games), 0);
    int count;
    SpoolItem **items scope(free_ptr) = spool_read(folder, &count);
    assert_int_equal(count, 0);
    assert_true(is_aside(folder, "0000000007-000000.json"));
    (void)items;
}

static void what_a_sudden_death_left_half_done_is_removed(void **state) {
    (void)state;
    Error err;
    char *folder scope(kit_folder_drop) = kit_folder();
    SpoolItem *item = make_item(7, 0);
    assert_true(spool_write(folder, item, &err));
    kit_write(folder, "0000000007-000001.games.zst", "x");
    kit_write(folder, "0000000007-000001.json.AbCdEf", "x");
    kit_write(folder, "0000000007-000000.games.zst.AbCdEf", "x");
    int count;
    SpoolItem **items scope(free_ptr) = spool_read(folder, &count);
    assert_int_equal(count, 1);
    assert_int_equal(items[0]->size, item->size);
    spool_remove(folder, item);
    spool_item_free(items[0]);
    spool_item_free(item);
    assert_int_equal(rmdir(folder), 0);
    assert_true(folder_make(folder, &err));
}

static void what_cannot_be_read_is_put_aside_with_its_games(void **state) {
    (void)state;
    char *folder scope(kit_folder_drop) = kit_folder();
    static const char *const names[] = {"0000000007-000000.json",  "x.json",
                                        "0000000008-000001.json",  "7-2.json",
                                        "0000000007-e00.json.zst", "0000000009-000000.json"};
    static const char *const texts[] = {"{", "{}", "{\"seq\": 2}", "{\"seq\": 2}", "", "[]"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        kit_write(folder, names[i], texts[i]);
    kit_write(folder, "0000000007-000000.games.zst", "x");
    kit_write(folder, "0000000008-000000.json.AbCdEf", "{}"); // half done: removed
    int count;
    SpoolItem **items scope(free_ptr) = spool_read(folder, &count);
    assert_int_equal(count, 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!is_aside(folder, names[i]))
            fail_msg("%s", names[i]);
    assert_true(is_aside(folder, "0000000007-000000.games.zst"));
    SpoolItem **again scope(free_ptr) = spool_read(folder, &count);
    assert_int_equal(count, 0); // what is aside stays there
    (void)items, (void)again;
}

static void a_batch_with_damaged_games_is_put_aside(void **state) {
    (void)state;
    Error err;
    char *folder scope(kit_folder_drop) = kit_folder();
    SpoolItem *item = make_item(7, 0);
    item->bytes[item->size / 2] ^= 1;
    assert_true(spool_write(folder, item, &err));
    spool_item_free(item);
    int count;
    SpoolItem **items scope(free_ptr) = spool_read(folder, &count);
    assert_int_equal(count, 0);
    assert_true(is_aside(folder, "0000000007-000000.json"));
    assert_true(is_aside(folder, "0000000007-000000.games.zst"));
    (void)items;
}

static void a_refused_batch_is_put_aside_with_the_reason(void **state) {
    (void)state;
    Error err;
    char *folder scope(kit_folder_drop) = kit_folder();
    SpoolItem *item = make_item(7, 0);
    assert_true(spool_write(folder, item, &err));
    spool_put_aside(folder, item, "wins are 17");
    spool_item_free(item);
    int count;
    SpoolItem **items scope(free_ptr) = spool_read(folder, &count);
    (void)items;
    assert_int_equal(count, 0);
    char *note scope(free_ptr) = xasprintf("%s/refused/0000000007-000000.why", folder);
    char *why scope(free_ptr) = file_read(note, 100, NULL, &err);
    assert_string_equal(why, "wins are 17");
    assert_true(is_aside(folder, "0000000007-000000.json"));
    assert_true(is_aside(folder, "0000000007-000000.games.zst"));
}

static void attachments_are_kept_beside_the_batches(void **state) {
    (void)state;
    Error err;
    char *folder scope(kit_folder_drop) = kit_folder();
    char body[] = "attached";
    SpoolItem fault_report = {
        .kind = SPOOL_FAULT_REPORT, .task = 7, .seq = 3, .bytes = body, .size = 8};
    SpoolItem ending = {.kind = SPOOL_ENDING, .task = 7, .seq = 1234, .bytes = body, .size = 7};
    SpoolItem *batch = make_item(7, 12);
    assert_true(spool_write(folder, &fault_report, &err) && spool_write(folder, &ending, &err) &&
                spool_write(folder, batch, &err));
    spool_item_free(batch);
    int count;
    SpoolItem **items scope(free_ptr) = spool_read(folder, &count);
    assert_int_equal(count, 3);
    assert_int_equal(items[0]->kind, SPOOL_BATCH); // attachments come after their task's batches
    assert_int_equal(items[1]->kind, SPOOL_ENDING);
    assert_int_equal(items[1]->seq, 1234);
    assert_int_equal(items[1]->size, 7);
    assert_int_equal(items[2]->kind, SPOOL_FAULT_REPORT);
    assert_int_equal(items[2]->seq, 3);
    assert_memory_equal(items[2]->bytes, body, 8);
    for (int i = 0; i < 3; i++) {
        spool_remove(folder, items[i]);
        spool_item_free(items[i]);
    }
    assert_int_equal(rmdir(folder), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_counts_in_half_points_of_the_new_side),
        cmocka_unit_test(faults_of_either_side_are_counted_apart),
        cmocka_unit_test(a_side_that_computes_in_its_opponents_time_is_counted),
        cmocka_unit_test(a_game_has_the_members_that_the_api_names),
        cmocka_unit_test(the_longest_game_is_within_what_the_server_takes),
        cmocka_unit_test(clocks_belong_to_the_engine_that_moved),
        cmocka_unit_test(a_move_without_a_score_has_null),
        cmocka_unit_test(a_batch_has_the_members_that_the_api_names),
        cmocka_unit_test(the_spool_gives_back_what_was_written_in_order),
        cmocka_unit_test(a_spooled_batch_whose_games_are_gone_is_put_aside),
        cmocka_unit_test(what_a_sudden_death_left_half_done_is_removed),
        cmocka_unit_test(what_cannot_be_read_is_put_aside_with_its_games),
        cmocka_unit_test(a_batch_with_damaged_games_is_put_aside),
        cmocka_unit_test(a_refused_batch_is_put_aside_with_the_reason),
        cmocka_unit_test(attachments_are_kept_beside_the_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// What the trainer learns from: game files replayed, filtered and split, with their signs right;
// and what it leaves behind: files, curves, names.

#include "tests/unit/learn/train_set_kit.h"

#include <math.h>
#include <sys/stat.h>

#include "engine/base/sha256.h"
#include "engine/eval/eval.h"
#include "engine/learn/train_chart.h"
#include "engine/rules/bitboard.h"
#include "engine/rules/notation.h"

static void assert_load_fails(const char *folder, const char *word) {
    TrainSet *set = calloc(1, sizeof *set);
    TrainSetOptions options = options_of(&folder);
    Refusal err = {""};
    assert_false(train_set_load(set, &options, &err));
    if (!strstr(err.message, word))
        fail_msg("no %s in: %s", word, err.message);
    drop(set);
}

// ---- filters -----------------------------------------------------------------------------------

static void only_positions_that_their_score_is_about_are_kept(void **state) {
    (void)state;
    static const struct {
        const char *fen, *move;
        int ply, score, result;
        DropReason why;
    } rows[] = {
        {"4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 20", "e1d2", 38, 50, 2, DROP_NONE},
        {"4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 8", "e1d2", 15, 50, 2, DROP_EARLY},
        {"4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 9", "e1d2", 16, 50, 2, DROP_NONE},
        {"4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 20", "e4d5", 38, 50, 2, DROP_LOUD},
        {"4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 20", "e5d6", 38, 50, 2, DROP_LOUD},
        {"4k3/P7/8/8/8/8/8/4K3 w - - 0 20", "a7a8q", 38, 50, 2, DROP_LOUD},
        {"4k3/8/8/8/8/8/4r3/4K3 w - - 0 20", "e1f1", 38, -50, 0, DROP_LOUD},
        {"4k3/8/8/8/8/8/8/R3K3 w Q - 0 20", "e1c1", 38, 50, 2, DROP_NONE},
        {"4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 20", "e1d2", 38, 2000, 2, DROP_NONE},
        {"4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 20", "e1d2", 38, 2001, 2, DROP_LARGE},
        {"4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 20", "e1d2", 38, -32000, 0, DROP_LARGE},
        {"4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 20", "e1d2", 38, 600, 0, DROP_ABSURD},
        {"4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 20", "e1d2", 38, -600, 2, DROP_ABSURD},
        {"4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 20", "e1d2", 38, 599, 0, DROP_NONE},
        {"4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 20", "e1d2", 38, 600, 1, DROP_NONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Position pos = position_of(rows[i].fen);
        Move move = move_from_uci(&pos, rows[i].move);
        assert_int_not_equal(move, MOVE_NONE);
        assert_int_equal(train_drop_reason(&pos, move, rows[i].ply, rows[i].score, rows[i].result),
                         rows[i].why);
    }
}

static void what_is_left_out_is_counted(void **state) {
    (void)state;
    char *folder scope(kit_folder_drop) = kit_folder();
    write_games(folder, "games-000000.anvil", 0, GAMES, SCORES_OF_WHITE);
    TrainSet *set = load(folder, NULL);
    assert_int_equal(set->games, GAMES);
    assert_int_equal(set->files, 1);
    int64_t sum = 0;
    for (int i = 0; i < DROP_NB; i++)
        sum += set->dropped[i];
    assert_int_equal(sum, set->plies);
    assert_true(set->dropped[DROP_LOUD] > 0);
    assert_int_equal(set->dropped[DROP_NONE], set->training.count + set->validation.count);
    assert_int_equal(set->probe_count, TRAIN_PROBES);
    drop(set);
}

// ---- signs -------------------------------------------------------------------------------------

static void scores_of_white_and_results_agree_for_either_side_to_move(void **state) {
    (void)state;
    char *folder scope(kit_folder_drop) = kit_folder();
    write_games(folder, "games-000000.anvil", 0, GAMES, SCORES_OF_WHITE);
    TrainSet *set = load(folder, NULL);
    assert_true(correlation_of(&set->sums) > 0.99);
    for (size_t i = 0; i < set->training.count; i++) {
        const TrainPosition *position = &set->training.at[i];
        assert_int_equal(position->score, (position->result - 1) * 150);
    }
    drop(set);
}

static void scores_of_the_mover_are_refused(void **state) {
    (void)state;
    char *folder scope(kit_folder_drop) = kit_folder();
    write_games(folder, "games-000000.anvil", 0, GAMES, SCORES_OF_MOVER);
    assert_load_fails(folder, "a sign is wrong");
}

static void correlation_is_that_of_the_textbook(void **state) {
    (void)state;
    Correlation same = {.n = 2, .x = 3, .y = 6, .xx = 5, .yy = 20, .xy = 10}; // (1,2) (2,4)
    assert_true(fabs(correlation_of(&same) - 1) < 1e-12);
    Correlation against = {.n = 2, .x = 3, .y = 6, .xx = 5, .yy = 20, .xy = 8}; // (1,4) (2,2)
    assert_true(fabs(correlation_of(&against) + 1) < 1e-12);
    Correlation flat = {.n = 2, .x = 2, .y = 6, .xx = 2, .yy = 20, .xy = 6}; // (1,2) (1,4)
    assert_true(correlation_of(&flat) == 0);
}

static void validation_positions_carry_the_classical_evaluation(void **state) {
    (void)state;
    char *folder scope(kit_folder_drop) = kit_folder();
    write_games(folder, "games-000000.anvil", 0, GAMES, SCORES_OF_WHITE);
    TrainSet *set = load(folder, NULL);
    int other_than_zero = 0;
    for (size_t i = 0; i < set->validation.count; i++)
        other_than_zero += set->validation.at[i].classical != 0;
    assert_true(other_than_zero > (int)set->validation.count / 2);
    drop(set);
}

// ---- the split ---------------------------------------------------------------------------------

// Numbers of the games that the positions come from (SCORES_OF_GAME; drawn games have none).
static uint64_t games_of(const TrainPositions *list) {
    uint64_t seen = 0;
    for (size_t i = 0; i < list->count; i++)
        if (list->at[i].score != 0)
            seen |= UINT64_C(1) << (abs(list->at[i].score) - 100);
    return seen;
}

static void a_game_is_for_training_or_for_validation_wherever_it_lies(void **state) {
    (void)state;
    char *one scope(kit_folder_drop) = kit_folder(), *two scope(kit_folder_drop) = kit_folder();
    write_games(one, "games-000000.anvil", 0, GAMES, SCORES_OF_GAME);
    write_games(two, "late.anvil", GAMES / 2, GAMES / 2, SCORES_OF_GAME);
    write_games(two, "more.anvil", 0, GAMES / 2, SCORES_OF_GAME);
    TrainSet *a = load(one, NULL), *b = load(two, NULL);
    uint64_t training = games_of(&a->training), validation = games_of(&a->validation);
    assert_int_equal(training & validation, 0);
    assert_true(training && validation);
    assert_int_equal(bitboard_count(training | validation), GAMES * 2 / 3);
    assert_true(games_of(&b->training) == training);
    assert_true(games_of(&b->validation) == validation);
    drop(a);
    drop(b);
}

static void a_limit_takes_the_first_positions(void **state) {
    (void)state;
    char *folder scope(kit_folder_drop) = kit_folder();
    write_games(folder, "games-000000.anvil", 0, GAMES, SCORES_OF_WHITE);
    const char *folders[] = {folder};
    TrainSetOptions options = options_of(folders);
    options.limit = 700;
    TrainSet *all = load(folder, NULL), *some = load(folder, &options);
    assert_int_equal(some->training.count + some->validation.count, 700);
    assert_memory_equal(some->training.at, all->training.at,
                        some->training.count * sizeof(TrainPosition));
    assert_true(train_set_fingerprint(some) != train_set_fingerprint(all));
    drop(all);
    drop(some);
}

static void folders_and_files_that_are_of_no_use_are_named(void **state) {
    (void)state;
    char *folder scope(kit_folder_drop) = kit_folder();
    assert_load_fails("/nowhere/at/all", "/nowhere/at/all");
    assert_load_fails(folder, "no game file (*.anvil)");
    Refusal err = {""};
    assert_true(output_write(folder, "x.anvil", "no games\n\n", 10, &err));
    assert_load_fails(folder, "x.anvil");
    write_games(folder, "x.anvil", 0, 1, SCORES_OF_WHITE);
    assert_load_fails(folder, "both are needed");
}

static void a_folder_without_games_among_others_is_named(void **state) {
    (void)state;
    char *full scope(kit_folder_drop) = kit_folder(), *empty scope(kit_folder_drop) = kit_folder();
    write_games(full, "games-000000.anvil", 0, GAMES, SCORES_OF_WHITE);
    write_games(empty, "games-000000.part", 0, GAMES, SCORES_OF_WHITE);
    const char *folders[] = {full, empty};
    TrainSetOptions options = options_of(folders);
    options.folder_count = 2;
    TrainSet *set = calloc(1, sizeof *set);
    Refusal err = {""};
    assert_false(train_set_load(set, &options, &err));
    assert_non_null(strstr(err.message, empty));
    drop(set);
}

static void a_cut_file_is_good_up_to_the_cut(void **state) {
    (void)state;
    char *folder scope(kit_folder_drop) = kit_folder();
    write_games(folder, "a.anvil", 0, GAMES, SCORES_OF_WHITE);
    size_t size;
    Refusal err = {""};
    void *bytes = output_read(folder, "a.anvil", &size, &err);
    assert_non_null(bytes);
    assert_true(output_write(folder, "a.anvil", bytes, size - 10, &err));
    free(bytes);
    TrainSet *set = load(folder, NULL);
    assert_int_equal(set->games, GAMES - 1);
    assert_int_equal(set->damaged, 1);
    drop(set);
}

// ---- what is left behind -----------------------------------------------------------------------

static void a_file_that_cannot_be_written_leaves_nothing(void **state) {
    (void)state;
    char *folder scope(kit_folder_drop) = kit_folder();
    char taken[4096];
    Refusal err = {""};
    snprintf(taken, sizeof taken, "%s/net", folder);
    assert_int_equal(mkdir(taken, 0777), 0); // no file takes a folder's name
    assert_false(output_write(folder, "net", "x", 1, &err));
    assert_non_null(strstr(err.message, taken));
    assert_false(output_exists(folder, "net.new"));
}

static void curves_name_their_lines_and_hold_every_epoch(void **state) {
    (void)state;
    TrainHistory *history = calloc(1, sizeof *history);
    for (int count = 0; count < 4; count++) {
        size_t size;
        history->count = count;
        history->constant = 0.1;
        history->classical = 0.02;
        for (int i = 0; i < count; i++)
            history->rows[i] = (TrainRow){i + 1, 10 * (i + 1), 0.001, 0.05 / (i + 1), 0.06, 1e5};
        char *csv = history_csv(history, &size);
        int lines = 0;
        for (size_t i = 0; i < size; i++)
            lines += csv[i] == '\n';
        assert_int_equal(lines, count + 1);
        free(csv);
        char *svg = history_svg(history, &size);
        assert_int_equal(strlen(svg), size);
        assert_non_null(strstr(svg, "</svg>"));
        assert_null(strstr(svg, "nan"));
        static const char *const names[] = {">training<", ">validation<", ">classical<",
                                            ">constant<"};
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            assert_int_equal(strstr(svg, names[i]) != NULL, count > 0);
        free(svg);
    }
    free(history);
}

static void nets_are_named_by_their_sha256(void **state) {
    (void)state;
    // FIPS 180-4's examples, and lengths around a block's end as sha256sum has them.
    static const struct {
        const char *text, *sum;
    } rows[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrl"
         "mnopqrsmnopqrstnopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char sum[SHA256_TEXT_SIZE];
        sha256_text(rows[i].text, strlen(rows[i].text), sum);
        assert_string_equal(sum, rows[i].sum);
    }
}

int main(void) {
    rules_init();
    eval_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_positions_that_their_score_is_about_are_kept),
        cmocka_unit_test(what_is_left_out_is_counted),
        cmocka_unit_test(scores_of_white_and_results_agree_for_either_side_to_move),
        cmocka_unit_test(scores_of_the_mover_are_refused),
        cmocka_unit_test(correlation_is_that_of_the_textbook),
        cmocka_unit_test(validation_positions_carry_the_classical_evaluation),
        cmocka_unit_test(a_game_is_for_training_or_for_validation_wherever_it_lies),
        cmocka_unit_test(a_limit_takes_the_first_positions),
        cmocka_unit_test(folders_and_files_that_are_of_no_use_are_named),
        cmocka_unit_test(a_folder_without_games_among_others_is_named),
        cmocka_unit_test(a_cut_file_is_good_up_to_the_cut),
        cmocka_unit_test(a_file_that_cannot_be_written_leaves_nothing),
        cmocka_unit_test(curves_name_their_lines_and_hold_every_epoch),
        cmocka_unit_test(nets_are_named_by_their_sha256),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

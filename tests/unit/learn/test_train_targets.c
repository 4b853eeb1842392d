// What positions of games are learned by: their scores and what the games came to.

#include "tests/unit/learn/train_set_kit.h"

#include "engine/eval/eval.h"
#include "engine/learn/train_trace.h"

static void a_target_is_the_score_and_what_came_of_it(void **state) {
    (void)state;
    static const struct {
        double trace;
        int plies, scores[3], targets[3];
    } rows[] = {
        {0, 3, {70, -32000, 31000}, {70, -32000, 31000}},
        {0.5, 3, {70, 70, 70}, {70, 70, 70}},
        {0.9, 3, {-2000, -2000, -2000}, {-2000, -2000, -2000}},
        {0.5, 2, {31990, -31990}, {0, -2000}}, // as chances: 1 and 0
        // 0.5 and 1 / (1 + exp(-416 / 361)) = 0.75994 in halves: 0.62997, 92 centipawns by the
        // same formula; of that and 0.5 a half is 0.56498, 45 centipawns.
        {0.5, 3, {0, 0, 200}, {45, 92, 200}},
    };
    GameFileRecord *game = calloc(1, sizeof *game);
    int16_t targets[GAMEFILE_PLIES_MAX];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        game->plies = rows[i].plies;
        for (int ply = 0; ply < game->plies; ply++)
            game->moves[ply].score = (int16_t)rows[i].scores[ply];
        train_trace(game, rows[i].trace, 361, targets);
        for (int ply = 0; ply < game->plies; ply++)
            assert_int_equal(targets[ply], rows[i].targets[ply]);
    }
    free(game);
}

static void training_goes_by_targets_and_validation_by_scores(void **state) {
    (void)state;
    char *folder scope(kit_folder_drop) = kit_folder();
    write_games(folder, "games-000000.anvil", 0, GAMES, SCORES_GROWING);
    const char *folders[] = {folder};
    TrainSetOptions options = options_of(folders);
    options.trace = 0.5;
    TrainSet *plain = load(folder, NULL), *traced = load(folder, &options);
    assert_int_equal(traced->training.count, plain->training.count);
    assert_int_equal(traced->validation.count, plain->validation.count);
    assert_memory_equal(traced->validation.at, plain->validation.at,
                        plain->validation.count * sizeof(TrainPosition));
    size_t raised = 0, wrong = 0;
    for (size_t i = 0; i < plain->training.count; i++) {
        int winner = plain->training.at[i].result - 1; // 1, 0, -1 for the side to move
        int more = winner * (traced->training.at[i].score - plain->training.at[i].score);
        raised += more > 0;
        wrong += more < 0 || more > 10; // halves of 10, 20, 30, … more; less as chances
    }
    assert_true(raised > plain->training.count / 2);
    assert_int_equal(wrong, 0);
    drop(plain);
    drop(traced);
}

int main(void) {
    rules_init();
    eval_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_target_is_the_score_and_what_came_of_it),
        cmocka_unit_test(training_goes_by_targets_and_validation_by_scores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

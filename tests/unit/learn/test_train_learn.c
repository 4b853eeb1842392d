// The trainer learning: a small task, the bounds of every step, the same net from the same seed,
// and a run that was interrupted.

#include "tests/unit/learn/train_kit.h"

#include <math.h>

#include "engine/learn/train_checkpoint.h"
#include "engine/learn/train_output.h"
#include "server/common/str.h"
#include "tests/kit/repo_kit.h"

// ---- a small task ------------------------------------------------------------------------------

// Of every four stretches of a game three are to learn from, the last to be tested on.
enum { STRETCH = 50 };

static int material(const Position *pos) {
    static const int worth[PIECE_TYPE_NB] = {100, 300, 300, 500, 900, 0};
    int sum = 0;
    for (PieceType t = PAWN; t <= QUEEN; t++)
        sum += worth[t] * (bitboard_count(position_pieces(pos, WHITE, t)) -
                           bitboard_count(position_pieces(pos, BLACK, t)));
    return sum;
}

static TrainPositions material_positions(bool tested, int most) {
    TrainPositions list = {.at = calloc(POOL, sizeof *list.at)};
    for (int i = 0; i < pool_size && (int)list.count < most; i++) {
        int score = material(&pool[i]);
        if (tested == (i / STRETCH % 4 == 3))
            train_position_pack(&pool[i],
                                score > 1500    ? 1500
                                : score < -1500 ? -1500
                                                : score,
                                score > 0   ? 2
                                : score < 0 ? 0
                                            : 1,
                                &list.at[list.count++]);
    }
    return list;
}

static TrainSettings small_settings(void) {
    return (TrainSettings){.buckets = 2,
                           .epochs = 12,
                           .batch = 100,
                           .threads = 2,
                           .seed = 7,
                           .rate = 0.003,
                           .lambda = 1,
                           .scale = 361,
                           .decay = 0.01};
}

static void it_learns_to_count_material(void **state) {
    (void)state;
    TrainSet *set = calloc(1, sizeof *set);
    set->training = material_positions(false, POOL);
    set->validation = material_positions(true, POOL);
    TrainSettings settings = small_settings();
    Trainer trainer;
    trainer_init(&trainer, &settings);
    double constant = trainer_baselines(&trainer, set).constant;
    double before = trainer_loss(&trainer, &set->validation);
    while (trainer.epoch < settings.epochs)
        trainer_epoch(&trainer, &set->training);
    double after = trainer_loss(&trainer, &set->validation);
    if (after > constant / 5 || after > before / 5)
        fail_msg("loss %g before, %g after, %g of a constant", before, after, constant);

    CompactNet compact;
    int most = 0;
    train_quantise(&trainer.running, trainer.bucket_of, &compact);
    double quantised = trainer_quantised_loss(&trainer, &compact, &set->validation, &most);
    assert_true(fabs(quantised - after) < constant / 1000);
    assert_true(most > 127 && most < 128 * 127);
    compact_release(&compact);
    trainer_release(&trainer);
    train_set_release(set);
    free(set);
}

// The least and the greatest of some weights.
static void assert_reach(const float *weights, size_t count, float limit) {
    float least = 0, most = 0;
    for (size_t i = 0; i < count; i++) {
        least = fminf(least, weights[i]);
        most = fmaxf(most, weights[i]);
    }
    assert_true(least == -limit && most == limit);
}

static void no_step_leaves_the_bounds_of_the_quantised_net(void **state) {
    (void)state;
    TrainPositions list = material_positions(false, 200);
    TrainSettings settings = small_settings();
    settings.rate = 100; // every step goes further than it may
    Trainer trainer;
    trainer_init(&trainer, &settings);
    trainer_epoch(&trainer, &list);
    const Weights *learned = &trainer.optimiser.learned;
    const TrainDense *dense = weights_dense(learned);
    assert_reach(learned->all, (size_t)learned->blocks * NET_FEATURES * NET_WIDTH, TRAIN_ROW_LIMIT);
    assert_reach(dense->w1[0], sizeof dense->w1 / sizeof(float), TRAIN_HIDDEN_LIMIT);
    assert_reach(dense->w2[0], sizeof dense->w2 / sizeof(float), TRAIN_HIDDEN_LIMIT);
    assert_reach(dense->w3, NET_HIDDEN, TRAIN_OUTPUT_LIMIT);
    // The bounds are those that the quantised net needs.
    CompactNet compact;
    int most = 0;
    train_quantise(&trainer.running, trainer.bucket_of, &compact);
    trainer_quantised_loss(&trainer, &compact, &list, &most);
    assert_true(most < 128 * 127);
    assert_int_equal(lrintf(TRAIN_HIDDEN_LIMIT * 64), 127);
    assert_int_equal(lrintf(TRAIN_OUTPUT_LIMIT * 9600 / 127), 127);
    compact_release(&compact);
    trainer_release(&trainer);
    free(list.at);
}

static void shared_rows_follow_the_sum_over_buckets_and_threads(void **state) {
    (void)state;
    enum { BUCKETS = 2, THREADS = 2, OTHER = NET_FEATURES };
    // Features 0 to 2 with gradients that cancel over buckets, add up, and cancel over threads.
    static const struct {
        int thread, row;
        float gradient;
    } given[] = {{0, 0, 1},         {1, OTHER + 0, -1}, {0, 1, 1},
                 {1, OTHER + 1, 1}, {0, 2, 1},          {1, 2, -1}};
    static const int wanted[3][3] = {{0, -1, 1}, {-1, -1, -1}, {0, 0, 0}}; // shared, own, own
    Optimiser optimiser;
    Weights gradients[THREADS], running;
    optimiser_init(&optimiser, BUCKETS);
    weights_init(&running, BUCKETS);
    for (int i = 0; i < THREADS; i++)
        weights_init(&gradients[i], BUCKETS);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        weights_row(&gradients[given[i].thread], (size_t)given[i].row)[7] = given[i].gradient;
    StepRates rates = optimiser_rates(&optimiser, 0.25, 0);
    optimiser_step_rows(&optimiser, &rates, gradients, THREADS, 0, 3, &running);
    for (size_t feature = 0; feature < 3; feature++)
        for (size_t set = 0; set < 3; set++) {
            float found = weights_row(&optimiser.learned, set * NET_FEATURES + feature)[7];
            assert_true(fabsf(found - 0.25f * (float)wanted[feature][set]) < 1e-5f);
        }
    for (size_t i = 0; i < gradients[0].count; i++)
        assert_true(gradients[0].all[i] == 0 && gradients[1].all[i] == 0);
    for (int i = 0; i < THREADS; i++)
        weights_release(&gradients[i]);
    weights_release(&running);
    optimiser_release(&optimiser);
}

static float on_grid(float value, float steps) {
    return rintf(value * steps) / steps;
}

static void the_running_net_is_the_sum_of_shared_and_own_rows_rounded(void **state) {
    (void)state;
    TrainPositions list = material_positions(false, 400);
    TrainSettings settings = small_settings();
    Trainer trainer;
    trainer_init(&trainer, &settings);
    trainer_epoch(&trainer, &list);
    int moved = 0;
    for (size_t row = 0; row < 2 * (size_t)NET_FEATURES; row++) {
        const float *shared = weights_row(&trainer.optimiser.learned, row % NET_FEATURES);
        const float *own = weights_row(&trainer.optimiser.learned, row + NET_FEATURES);
        for (int i = 0; i < NET_WIDTH; i++) {
            assert_true(weights_row(&trainer.running, row)[i] == on_grid(shared[i] + own[i], 127));
            moved += own[i] != 0;
        }
    }
    assert_true(moved > 1000);
    const TrainDense *learned = weights_dense(&trainer.optimiser.learned);
    const TrainDense *running = weights_dense(&trainer.running);
    for (int i = 0; i < NET_INPUTS; i++)
        assert_true(running->w1[3][i] == on_grid(learned->w1[3][i], 64));
    for (int i = 0; i < NET_HIDDEN; i++) {
        assert_true(running->w2[5][i] == on_grid(learned->w2[5][i], 64));
        assert_true(fabsf(running->w3[i] - on_grid(learned->w3[i], 9600.0f / 127)) < 1e-6f);
        assert_true(fabsf(running->b1[i] - on_grid(learned->b1[i], 64 * 127)) < 1e-6f);
    }
    trainer_release(&trainer);
    free(list.at);
}

static void the_learning_rate_rises_and_then_falls(void **state) {
    (void)state;
    enum { TOTAL = 1000, WARM = TOTAL / 20 };
    for (int step = 1; step < TOTAL; step++) {
        double before = optimiser_schedule(0.1, step - 1, TOTAL);
        double now = optimiser_schedule(0.1, step, TOTAL);
        assert_true(now > 0 && now <= 0.1);
        assert_int_equal(now > before, step <= WARM);
    }
    assert_true(optimiser_schedule(0.1, TOTAL - 1, TOTAL) < 0.002);
    assert_true(optimiser_schedule(0.1, 0, 1) > 0);
}

// ---- the same again ----------------------------------------------------------------------------

static void train_until(Trainer *trainer, const TrainPositions *positions, int64_t epoch) {
    while (trainer->epoch < epoch)
        trainer_epoch(trainer, positions);
}

static void assert_same_weights(const Trainer *a, const Trainer *b) {
    size_t size = a->optimiser.learned.count * sizeof(float);
    assert_int_equal(b->optimiser.learned.count, a->optimiser.learned.count);
    assert_memory_equal(a->optimiser.learned.all, b->optimiser.learned.all, size);
    assert_memory_equal(a->running.all, b->running.all, a->running.count * sizeof(float));
}

static void the_same_seed_and_threads_give_the_same_net(void **state) {
    (void)state;
    TrainPositions list = material_positions(false, 1000);
    for (int threads = 1; threads <= 3; threads += 2) {
        TrainSettings settings = small_settings();
        settings.threads = threads;
        Trainer a, b, other;
        trainer_init(&a, &settings);
        trainer_init(&b, &settings);
        settings.seed++;
        trainer_init(&other, &settings);
        train_until(&a, &list, 2);
        train_until(&b, &list, 2);
        train_until(&other, &list, 2);
        assert_same_weights(&a, &b);
        assert_memory_not_equal(a.running.all, other.running.all, a.running.count * sizeof(float));
        trainer_release(&a);
        trainer_release(&b);
        trainer_release(&other);
    }
    free(list.at);
}

static void the_number_of_threads_changes_roundings_only(void **state) {
    (void)state;
    TrainPositions list = material_positions(false, 500);
    double losses[2];
    for (int i = 0; i < 2; i++) {
        TrainSettings settings = small_settings();
        settings.threads = i ? 5 : 1;
        Trainer trainer;
        trainer_init(&trainer, &settings);
        losses[i] = trainer_epoch(&trainer, &list);
        trainer_release(&trainer);
    }
    free(list.at);
    assert_true(fabs(losses[0] - losses[1]) < 1e-3 * losses[0]);
}

static void an_interrupted_run_ends_like_one_that_was_not(void **state) {
    (void)state;
    char *folder scope(kit_folder_drop) = kit_folder();
    TrainPositions list = material_positions(false, 600);
    TrainHistory *history = calloc(2, sizeof *history);
    TrainSettings settings = small_settings();
    Trainer whole, part;
    Refusal err = {""};
    trainer_init(&whole, &settings);
    train_until(&whole, &list, 2);
    history[0].count = 2;
    history[0].classical = 0.25;
    history[0].rows[1] = (TrainRow){.epoch = 2, .validation = 0.5};
    assert_false(checkpoint_exists(folder));
    if (!checkpoint_write(folder, &whole, 99, &history[0], &err))
        fail_msg("%s", err.message);
    assert_true(checkpoint_exists(folder));
    train_until(&whole, &list, 4);

    trainer_init(&part, &settings);
    if (!checkpoint_read(folder, &part, 99, &history[1], &err))
        fail_msg("%s", err.message);
    assert_int_equal(part.epoch, 2);
    assert_memory_equal(&history[0], &history[1], sizeof *history);
    train_until(&part, &list, 4);
    assert_same_weights(&whole, &part);
    trainer_release(&whole);
    trainer_release(&part);
    free(history);
    free(list.at);
}

// Reads a checkpoint that must be refused, for a reason that has `word` in it.
static void assert_refused(const char *folder, const TrainSettings *settings, uint64_t fingerprint,
                           const char *word) {
    TrainHistory *history = calloc(1, sizeof *history);
    Trainer trainer;
    Refusal err = {""};
    trainer_init(&trainer, settings);
    assert_false(checkpoint_read(folder, &trainer, fingerprint, history, &err));
    if (!strstr(err.message, word))
        fail_msg("no %s in: %s", word, err.message);
    trainer_release(&trainer);
    free(history);
}

static void a_checkpoint_of_another_run_or_a_damaged_one_is_refused(void **state) {
    (void)state;
    char *folder scope(kit_folder_drop) = kit_folder();
    TrainHistory *history = calloc(1, sizeof *history);
    TrainSettings settings = small_settings(), other = settings;
    Trainer trainer;
    Refusal err = {""};
    trainer_init(&trainer, &settings);
    assert_true(checkpoint_write(folder, &trainer, 1, history, &err));
    assert_refused(folder, &settings, 2, "other positions");
    other.rate *= 2;
    assert_refused(folder, &other, 1, "--lr");
    other = settings;
    other.buckets = 4;
    assert_refused(folder, &other, 1, "--buckets");

    size_t size;
    uint8_t *bytes = output_read(folder, "checkpoint", &size, &err);
    assert_non_null(bytes);
    bytes[size / 2] ^= 1;
    assert_true(output_write(folder, "checkpoint", bytes, size, &err));
    assert_refused(folder, &settings, 1, "damaged");
    assert_true(output_write(folder, "checkpoint", bytes, size - 8, &err));
    assert_refused(folder, &settings, 1, "bytes");
    assert_true(output_write(folder, "checkpoint", bytes, 20, &err));
    assert_refused(folder, &settings, 1, "has only");
    bytes[0] = 'X';
    assert_true(output_write(folder, "checkpoint", bytes, size, &err));
    assert_refused(folder, &settings, 1, "version");
    free(bytes);
    free(history);
    trainer_release(&trainer);
}

int main(void) {
    rules_init();
    pool_fill();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_learns_to_count_material),
        cmocka_unit_test(no_step_leaves_the_bounds_of_the_quantised_net),
        cmocka_unit_test(shared_rows_follow_the_sum_over_buckets_and_threads),
        cmocka_unit_test(the_running_net_is_the_sum_of_shared_and_own_rows_rounded),
        cmocka_unit_test(the_learning_rate_rises_and_then_falls),
        cmocka_unit_test(the_same_seed_and_threads_give_the_same_net),
        cmocka_unit_test(the_number_of_threads_changes_roundings_only),
        cmocka_unit_test(an_interrupted_run_ends_like_one_that_was_not),
        cmocka_unit_test(a_checkpoint_of_another_run_or_a_damaged_one_is_refused),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(pool);
    return failed;
}

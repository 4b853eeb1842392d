// The trainer's net: packing and features, gradients against differences, the quantised net against
// the engine's.

#include "tests/unit/learn/train_kit.h"

#include <math.h>

#include "engine/learn/train_finish.h"
#include "engine/learn/train_random.h"

// ---- positions ---------------------------------------------------------------------------------

// The board turned by half a turn, colours and the side to move exchanged: what FEN reads backwards
// with the case of its letters changed.
static Position turned(const Position *pos) {
    char fen[FEN_MAX], out[FEN_MAX];
    position_to_fen(pos, fen);
    size_t length = strcspn(fen, " ");
    for (size_t i = 0; i < length; i++) {
        char ch = fen[length - 1 - i];
        out[i] = (char)(ch >= 'A' ? ch ^ 32 : ch);
    }
    snprintf(out + length, sizeof out - length, " %c - - 0 1", pos->side == WHITE ? 'b' : 'w');
    return position_of(out);
}

static void a_position_and_its_half_turn_are_packed_alike(void **state) {
    (void)state;
    for (int i = 0; i < pool_size; i += 7) {
        Position other = turned(&pool[i]);
        TrainPosition a, b;
        train_position_pack(&pool[i], 35, 2, &a);
        train_position_pack(&other, -35, 0, &b);
        assert_memory_equal(&a, &b, sizeof a);
    }
}

static void scores_and_results_turn_to_the_side_to_move(void **state) {
    (void)state;
    Position white = position_of("4k3/8/8/8/8/8/P7/4K3 w - - 0 1");
    Position black = position_of("4k3/8/8/8/8/8/P7/4K3 b - - 0 1");
    TrainPosition packed;
    train_position_pack(&white, 120, 2, &packed);
    assert_int_equal(packed.score, 120);
    assert_int_equal(packed.result, 2);
    train_position_pack(&black, 120, 2, &packed);
    assert_int_equal(packed.score, -120);
    assert_int_equal(packed.result, 0);
    train_position_pack(&black, 120, 1, &packed);
    assert_int_equal(packed.result, 1);
}

static int by_value(const void *a, const void *b) {
    return *(const uint16_t *)a - *(const uint16_t *)b;
}

// The rows of a view as nnue.h defines them, sorted.
static int rows_of(const CompactNet *compact, const Position *pos, Color view, uint16_t *out) {
    Square king = net_square(view, position_king(pos, view));
    int count = 0;
    for (Square s = A1; s <= H8; s++)
        if (pos->board[s] != NO_PIECE && piece_type(pos->board[s]) != KING)
            out[count++] = (uint16_t)(compact_bucket(compact, king) * NET_FEATURES +
                                      64 * net_plane(view, pos->board[s]) +
                                      (net_square(view, s) ^ compact_flip(king)));
    qsort(out, (size_t)count, sizeof *out, by_value);
    return count;
}

static void features_are_the_rows_that_the_engine_adds_up(void **state) {
    (void)state;
    static const int buckets[] = {1, 2, 4, 8, 16};
    for (size_t b = 0; b < sizeof buckets / sizeof *buckets; b++) {
        CompactNet compact = {.buckets = buckets[b]};
        memcpy(compact.bucket_of, train_buckets(buckets[b]), sizeof compact.bucket_of);
        for (int i = 0; i < pool_size; i += 11) {
            TrainPosition packed;
            TrainFeatures features;
            uint16_t wanted[TRAIN_PIECES_MAX] = {0};
            train_position_pack(&pool[i], 0, 1, &packed);
            train_position_features(&packed, compact.bucket_of, &features);
            for (int view = 0; view < 2; view++) {
                qsort(features.rows[view], (size_t)features.count, sizeof(uint16_t), by_value);
                Color color = view ? color_flip(pool[i].side) : pool[i].side;
                assert_int_equal(rows_of(&compact, &pool[i], color, wanted), features.count);
                assert_memory_equal(wanted, features.rows[view],
                                    (size_t)features.count * sizeof *wanted);
            }
        }
    }
}

static void every_number_of_buckets_uses_each_of_them(void **state) {
    (void)state;
    for (int buckets = 0; buckets <= NET_BUCKETS_MAX + 1; buckets++) {
        const uint8_t *of = train_buckets(buckets);
        bool known = buckets == 1 || buckets == 2 || buckets == 4 || buckets == 8 || buckets == 16;
        assert_int_equal(of != NULL, known);
        uint32_t seen = 0;
        for (int i = 0; of && i < 32; i++)
            seen |= UINT32_C(1) << of[i];
        assert_int_equal(seen, known ? (UINT32_C(1) << buckets) - 1 : 0);
    }
}

// ---- gradients ---------------------------------------------------------------------------------

// A net with something in every row of two buckets; not on the grid of the quantised net, where
// sums meet the borders of the clipped ReLU exactly.
static void random_net(Weights *running, int buckets, uint64_t seed) {
    Weights learned;
    uint64_t state = seed;
    weights_init(&learned, buckets + 1);
    weights_init(running, buckets);
    weights_start(&learned, seed);
    for (size_t i = (size_t)NET_FEATURES * NET_WIDTH; i < learned.count; i++)
        learned.all[i] += random_float(&state, 0.02f);
    weights_fold(&learned, running, 0, NET_FEATURES);
    *weights_dense(running) = *weights_dense(&learned);
    size_t rows = (size_t)buckets * NET_FEATURES * NET_WIDTH;
    for (size_t i = 0; i < rows; i++)
        running->all[i] += random_float(&state, 0.003f);
    weights_release(&learned);
}

static void fill_block(TrainBlock *block, int count, int from, const uint8_t *bucket_of) {
    block->count = count;
    for (int i = 0; i < count; i++) {
        TrainPosition packed;
        train_position_pack(&pool[from + 37 * i], 0, 1, &packed);
        train_position_features(&packed, bucket_of, &block->features[i]);
        block->dout[i] = 1;
    }
}

static double outputs_sum(const Weights *net, TrainBlock *block) {
    double sum = 0;
    train_forward(net, block);
    for (int i = 0; i < block->count; i++)
        sum += (double)block->out[i];
    return sum;
}

// The slope of the outputs' sum along `direction`, by going a little way both ways.
static double slope_along(const Weights *net, TrainBlock *block, size_t first, size_t count,
                          const float *direction, double step) {
    Weights moved;
    double ends[2];
    weights_init(&moved, net->blocks);
    for (int end = 0; end < 2; end++) {
        memcpy(moved.all, net->all, net->count * sizeof(float));
        for (size_t i = 0; i < count; i++)
            moved.all[first + i] += (float)((end ? -step : step) * (double)direction[i]);
        ends[end] = outputs_sum(&moved, block);
    }
    weights_release(&moved);
    return (ends[0] - ends[1]) / (2 * step);
}

// Along the gradient's own signs, so that every part counts, and along random ones, so that what
// the gradient left out would show.
static void check_part(const Weights *net, const Weights *gradient, TrainBlock *block, size_t first,
                       size_t count, uint64_t *state) {
    float *direction = malloc(count * sizeof *direction);
    for (int kind = 0; kind < 2; kind++) {
        double expected = 0, size = 0;
        for (size_t i = 0; i < count; i++) {
            double g = (double)gradient->all[first + i];
            int sign = kind ? (random_next(state) >> 63 ? 1 : -1) : (g > 0) - (g < 0);
            direction[i] = (float)sign;
            expected += sign * g;
            size += kind ? g * g : fabs(g);
        }
        size = kind ? sqrt(size) : size;
        assert_true(size > 0);
        double found = slope_along(net, block, first, count, direction, 0.002 / size);
        if (fabs(found - expected) > 0.02 * size)
            fail_msg("weights from %zu, %zu of them: slope %g, gradient says %g", first, count,
                     found, expected);
    }
    free(direction);
}

static void gradients_are_what_differences_say(void **state) {
    (void)state;
    enum { BUCKETS = 2 };
    Weights net, gradient;
    TrainBlock *block = calloc(1, sizeof *block);
    uint64_t random = 5;
    random_net(&net, BUCKETS, 3);
    weights_init(&gradient, BUCKETS);
    fill_block(block, TRAIN_BLOCK - 1, 11, train_buckets(BUCKETS));
    outputs_sum(&net, block);
    train_backward(&net, block, &gradient);

    size_t dense = (size_t)BUCKETS * NET_FEATURES * NET_WIDTH;
    check_part(&net, &gradient, block, 0, dense, &random);
#define PART(field)                                                                                \
    check_part(&net, &gradient, block, dense + offsetof(TrainDense, field) / sizeof(float),        \
               sizeof(((TrainDense *)0)->field) / sizeof(float), &random)
    PART(bias);
    PART(w1);
    PART(b1);
    PART(w2);
    PART(b2);
    PART(w3);
    PART(b3);
#undef PART
    weights_release(&net);
    weights_release(&gradient);
    free(block);
}

static void the_slope_of_the_loss_is_what_differences_say(void **state) {
    (void)state;
    LossRule rule = {0.7f, 361};
    for (float out = -2; out <= 2; out += 0.25f) {
        float step = 1e-2f, target = 0.3f;
        float up = loss_value(chance_of_output(&rule, out + step), target);
        float down = loss_value(chance_of_output(&rule, out - step), target);
        float slope = loss_slope(&rule, chance_of_output(&rule, out), target);
        assert_true(fabsf((up - down) / (2 * step) - slope) < 2e-3f);
    }
}

static void a_pawn_of_score_and_of_output_are_one_chance(void **state) {
    (void)state;
    LossRule rule = {1, 361};
    TrainPosition position = {.score = 100, .result = 0};
    float out = (float)NET_RAW_PER_PAWN / TRAIN_RAW_PER_OUTPUT;
    assert_true(fabsf(chance_of_output(&rule, out) - loss_target(&rule, &position)) < 1e-6f);
    rule.lambda = 0;
    assert_true(loss_target(&rule, &position) == 0);
}

// ---- the quantised net -------------------------------------------------------------------------

static void the_quantised_net_says_what_the_floating_one_says(void **state) {
    (void)state;
    enum { BUCKETS = 8 };
    Weights net;
    CompactNet compact;
    TrainBlock *block = calloc(1, sizeof *block);
    random_net(&net, BUCKETS, 9);
    train_quantise(&net, train_buckets(BUCKETS), &compact);
    for (int from = 0; from + 37 * TRAIN_BLOCK < pool_size; from += 100) {
        fill_block(block, TRAIN_BLOCK, from, compact.bucket_of);
        train_forward(&net, block);
        for (int i = 0; i < block->count; i++) {
            int unused = 0;
            float out = (float)train_quantised(&compact, &block->features[i], &unused) /
                        TRAIN_RAW_PER_OUTPUT;
            if (fabsf(out - block->out[i]) > 0.03f) // 18 units of 208 a pawn
                fail_msg("output %g, quantised %g", (double)block->out[i], (double)out);
        }
    }
    compact_release(&compact);
    weights_release(&net);
    free(block);
}

// Weights of all sizes that training may give, so that every clip and every sign occurs.
static void wild_net(CompactNet *compact, int buckets, uint64_t seed) {
    Weights net;
    uint64_t random = seed;
    weights_init(&net, buckets);
    TrainDense *dense = weights_dense(&net);
    for (size_t i = 0; i < (size_t)buckets * NET_FEATURES * NET_WIDTH; i++)
        net.all[i] = random_float(&random, 2 * TRAIN_ROW_LIMIT);
    for (int i = 0; i < NET_HIDDEN * NET_INPUTS; i++)
        dense->w1[i / NET_INPUTS][i % NET_INPUTS] = random_float(&random, 2.5f);
    for (int i = 0; i < NET_HIDDEN * NET_HIDDEN; i++)
        dense->w2[i / NET_HIDDEN][i % NET_HIDDEN] = random_float(&random, 0.5f);
    for (int i = 0; i < NET_HIDDEN; i++) {
        dense->b1[i] = random_float(&random, 20);
        dense->b2[i] = random_float(&random, 1);
        dense->w3[i] = random_float(&random, 2);
    }
    train_quantise(&net, train_buckets(buckets), compact);
    weights_release(&net);
}

static void engine_and_trainer_agree_to_the_last_bit(void **state) {
    (void)state;
    TrainSet *set = calloc(1, sizeof *set);
    for (int i = 0; i < TRAIN_PROBES; i++)
        set->probes[set->probe_count++] = pool[i * 2];
    for (int buckets = 1; buckets <= 16; buckets *= 4) {
        CompactNet compact;
        Network net;
        wild_net(&compact, buckets, (uint64_t)buckets + 40);
        compact_expand(&compact, &net);
        assert_int_equal(train_agreement(&compact, &net, set), set->probe_count);
        network_release(&net);
        // A net that differs in one weight is told apart.
        compact.dense.b3++;
        compact_expand(&compact, &net);
        compact.dense.b3--;
        assert_int_equal(train_agreement(&compact, &net, set), 0);
        network_release(&net);
        compact_release(&compact);
    }
    free(set);
}

static void assert_same_net(const CompactNet *a, const CompactNet *b) {
    assert_memory_equal(a->bias, b->bias, sizeof a->bias);
    assert_memory_equal(a->rows, b->rows, (size_t)a->buckets * NET_FEATURES * sizeof *a->rows);
    assert_memory_equal(&a->dense, &b->dense, sizeof a->dense);
}

// What `net` becomes that is learned from for no step.
static void taken_back(const CompactNet *net, int buckets, CompactNet *out) {
    Weights learned, running;
    weights_init(&learned, buckets + 1);
    weights_init(&running, buckets);
    train_dequantise(net, train_buckets(buckets), &learned);
    weights_fold(&learned, &running, 0, NET_FEATURES);
    weights_fold_dense(&learned, &running);
    train_quantise(&running, train_buckets(buckets), out);
    weights_release(&learned);
    weights_release(&running);
}

static void a_net_that_is_learned_from_comes_back_as_it_was(void **state) {
    (void)state;
    CompactNet net, back, more;
    wild_net(&net, 4, 77);
    taken_back(&net, 4, &back);
    assert_same_net(&net, &back);
    taken_back(&net, 8, &more);
    Network four, eight;
    compact_expand(&net, &four);
    compact_expand(&more, &eight);
    for (int i = 0; i < pool_size; i += 13)
        assert_int_equal(network_evaluate(&four, &pool[i]), network_evaluate(&eight, &pool[i]));
    network_release(&four);
    network_release(&eight);
    compact_release(&net);
    compact_release(&back);
    compact_release(&more);
}

int main(void) {
    rules_init();
    pool_fill();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_position_and_its_half_turn_are_packed_alike),
        cmocka_unit_test(scores_and_results_turn_to_the_side_to_move),
        cmocka_unit_test(features_are_the_rows_that_the_engine_adds_up),
        cmocka_unit_test(every_number_of_buckets_uses_each_of_them),
        cmocka_unit_test(gradients_are_what_differences_say),
        cmocka_unit_test(the_slope_of_the_loss_is_what_differences_say),
        cmocka_unit_test(a_pawn_of_score_and_of_output_are_one_chance),
        cmocka_unit_test(the_quantised_net_says_what_the_floating_one_says),
        cmocka_unit_test(engine_and_trainer_agree_to_the_last_bit),
        cmocka_unit_test(a_net_that_is_learned_from_comes_back_as_it_was),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(pool);
    return failed;
}

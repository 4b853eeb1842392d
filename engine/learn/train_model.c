// The net in floating point. Loops have fixed bounds and no branches inside, so that the compiler
// can use vector instructions.
#include "learn/train_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "learn/train_random.h"

// ---- weights -----------------------------------------------------------------------------------

void weights_init(Weights *weights, int blocks) {
    size_t rows = (size_t)blocks * NET_FEATURES;
    size_t count = rows * NET_WIDTH + sizeof(TrainDense) / sizeof(float);
    size_t size = (count * sizeof(float) + 63) / 64 * 64;
    *weights = (Weights){.blocks = blocks, .count = count, .all = aligned_alloc(64, size)};
    if (!weights->all) {
        fprintf(stderr, "anvil: out of memory for %zu weights\n", count);
        exit(EXIT_FAILURE);
    }
    memset(weights->all, 0, size);
}

void weights_release(Weights *weights) {
    free(weights->all);
    *weights = (Weights){0};
}

// The bucket of each square of a view's own king. Files e to h are mirrored, so each rank has four
// squares; the own back rank is first. The first two ranks have the most buckets, because kings
// stand there in most positions.
static const struct {
    int buckets;
    uint8_t of[32];
} BUCKETS[] = {
    {1, {0}},
    {2, {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
         1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
    {4, {0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3,
         3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3}},
    {8, {0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7,
         7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}},
    {16, {0,  1,  2,  3,  4,  5,  6,  7,  8,  8,  9,  9,  10, 10, 11, 11,
          12, 12, 13, 13, 14, 14, 14, 14, 15, 15, 15, 15, 15, 15, 15, 15}},
};
// clang-format on

const uint8_t *train_buckets(int buckets) {
    for (size_t i = 0; i < sizeof BUCKETS / sizeof *BUCKETS; i++)
        if (BUCKETS[i].buckets == buckets)
            return BUCKETS[i].of;
    return NULL;
}

// False for pawns on the first and last rank. No position uses these rows; they stay zero.
static bool feature_is_possible(int feature) {
    int rank = feature % 64 / 8;
    return feature >= 128 || (rank > 0 && rank < 7);
}

static void fill_random(float *values, size_t count, uint64_t *state, float range) {
    for (size_t i = 0; i < count; i++)
        values[i] = random_float(state, range);
}
static void fill(float *values, size_t count, float value) {
    for (size_t i = 0; i < count; i++)
        values[i] = value;
}

// Chooses random weights so that every activation begins near the middle of its range, where its
// gradient is not zero. The range is 1 / sqrt(number of a layer's inputs); in the first layer about
// 30 rows are added.
void weights_start(Weights *learned, uint64_t seed) {
    uint64_t state = random_stream(seed, STREAM_WEIGHTS);
    TrainDense *dense = weights_dense(learned);
    memset(learned->all, 0, learned->count * sizeof(float));
    for (int feature = 0; feature < NET_FEATURES; feature++)
        if (feature_is_possible(feature))
            fill_random(weights_row(learned, (size_t)feature), NET_WIDTH, &state, 0.08f);
    fill(dense->bias, NET_WIDTH, 0.5f);
    fill_random(dense->w1[0], sizeof dense->w1 / sizeof(float), &state, 0.044f);
    fill(dense->b1, NET_HIDDEN, 0.5f);
    fill_random(dense->w2[0], sizeof dense->w2 / sizeof(float), &state, 0.177f);
    fill(dense->b2, NET_HIDDEN, 0.5f);
    fill_random(dense->w3, NET_HIDDEN, &state, 0.177f);
}

// The nearest multiple of 1 / steps. To round to a whole number, it adds and subtracts 1.5 * 2^23:
// compilers can vectorise this.
static inline float to_grid(float value, float steps) {
    const float whole = 12582912;
    return (value * steps + whole - whole) / steps;
}

void weights_fold(const Weights *learned, Weights *running, int first, int last) {
    for (int feature = first; feature < last; feature++) {
        const float *shared = weights_row(learned, (size_t)feature);
        for (int bucket = 0; bucket < running->blocks; bucket++) {
            size_t row = (size_t)bucket * NET_FEATURES + (size_t)feature;
            const float *own = weights_row(learned, row + NET_FEATURES);
            float *sum = weights_row(running, row);
            for (int i = 0; i < NET_WIDTH; i++)
                sum[i] = to_grid(shared[i] + own[i], TRAIN_ONE);
        }
    }
}

static void all_to_grid(float *values, size_t count, float steps) {
    for (size_t i = 0; i < count; i++)
        values[i] = to_grid(values[i], steps);
}

void weights_fold_dense(const Weights *learned, Weights *running) {
    TrainDense *dense = weights_dense(running);
    *dense = *weights_dense(learned);
    all_to_grid(dense->bias, NET_WIDTH, TRAIN_ONE);
    all_to_grid(dense->w1[0], sizeof dense->w1 / sizeof(float), TRAIN_WEIGHT_ONE);
    all_to_grid(dense->b1, NET_HIDDEN, TRAIN_WEIGHT_ONE * TRAIN_ONE);
    all_to_grid(dense->w2[0], sizeof dense->w2 / sizeof(float), TRAIN_WEIGHT_ONE);
    all_to_grid(dense->b2, NET_HIDDEN, TRAIN_WEIGHT_ONE * TRAIN_ONE);
    all_to_grid(dense->w3, NET_HIDDEN, TRAIN_RAW_PER_OUTPUT / TRAIN_ONE);
}

// ---- small loops -------------------------------------------------------------------------------

// Sixteen partial sums, so that the order of additions is fixed here and not chosen by the
// compiler.
typedef float FloatLanes __attribute__((vector_size(64), aligned(4), may_alias));
enum { LANES = 16 };

static inline const FloatLanes *lanes(const float *at) {
    return (const FloatLanes *)(const void *)at;
}
static inline float lanes_total(const FloatLanes *sum) {
    float total = 0;
    for (int i = 0; i < LANES; i++)
        total += (*sum)[i];
    return total;
}
static inline float dot(const float *a, const float *b, int count) {
    FloatLanes sum = {0};
    for (int i = 0; i < count; i += LANES)
        sum += *lanes(a + i) * *lanes(b + i);
    return lanes_total(&sum);
}
// The products of `in` with MODEL_PART consecutive rows of weights. With one sum alone, each
// addition would wait for the one before it.
enum { MODEL_PART = 4 };
static inline void dots(const float *rows, const float *in, int count, float out[MODEL_PART]) {
    FloatLanes sum[MODEL_PART] = {{0}};
    for (int i = 0; i < count; i += LANES)
        for (int part = 0; part < MODEL_PART; part++)
            sum[part] += *lanes(rows + part * count + i) * *lanes(in + i);
    for (int part = 0; part < MODEL_PART; part++)
        out[part] = lanes_total(&sum[part]);
}
static inline void add(float *restrict to, const float *restrict from, int count) {
    for (int i = 0; i < count; i++)
        to[i] += from[i];
}
static inline void add_scaled(float *restrict to, const float *restrict from, float by, int count) {
    for (int i = 0; i < count; i++)
        to[i] += by * from[i];
}
static inline float clip(float value) {
    value = value > 0 ? value : 0;
    return value < 1 ? value : 1;
}
static inline void clip_all(float *values, int count) {
    for (int i = 0; i < count; i++)
        values[i] = clip(values[i]);
}
// The gradient of a clipped ReLU: it is zero where the value was clipped.
static inline void gate_all(float *restrict derivatives, const float *restrict values, int count) {
    for (int i = 0; i < count; i++)
        derivatives[i] = values[i] > 0 && values[i] < 1 ? derivatives[i] : 0;
}

// ---- forward pass ------------------------------------------------------------------------------

// Computes MODEL_PART lanes of an accumulator at a time, because they fit the registers.
static void accumulate(const Weights *running, const uint16_t *rows, int count, float *out) {
    for (int at = 0; at < NET_WIDTH; at += MODEL_PART * LANES) {
        const FloatLanes *bias = lanes(weights_dense(running)->bias + at);
        FloatLanes sum[MODEL_PART] = {bias[0], bias[1], bias[2], bias[3]};
        for (int i = 0; i < count; i++) {
            const FloatLanes *row = lanes(weights_row(running, rows[i]) + at);
            for (int part = 0; part < MODEL_PART; part++)
                sum[part] += row[part];
        }
        memcpy(out + at, sum, sizeof sum);
    }
    clip_all(out, NET_WIDTH);
}

// out = clip(bias + weights in), for all positions of a block. The outer loop is over the weights,
// so that a row of weights is read once for all positions.
static inline void layer_forward(const float *weights, const float *bias, int inputs,
                                 const float *in, float (*out)[NET_HIDDEN], int positions) {
    for (int o = 0; o < NET_HIDDEN; o += MODEL_PART)
        for (int p = 0; p < positions; p++) {
            float products[MODEL_PART];
            dots(weights + o * inputs, in + p * inputs, inputs, products);
            for (int part = 0; part < MODEL_PART; part++)
                out[p][o + part] = clip(bias[o + part] + products[part]);
        }
}

void train_forward(const Weights *running, TrainBlock *block) {
    const TrainDense *dense = weights_dense(running);
    int n = block->count;
    for (int p = 0; p < n; p++) {
        const TrainFeatures *features = &block->features[p];
        accumulate(running, features->rows[0], features->count, block->x[p]);
        accumulate(running, features->rows[1], features->count, block->x[p] + NET_WIDTH);
    }
    layer_forward(dense->w1[0], dense->b1, NET_INPUTS, block->x[0], block->h1, n);
    layer_forward(dense->w2[0], dense->b2, NET_HIDDEN, block->h1[0], block->h2, n);
    for (int p = 0; p < n; p++)
        block->out[p] = dense->b3 + dot(dense->w3, block->h2[p], NET_HIDDEN);
}

// ---- backward pass -----------------------------------------------------------------------------

// The derivatives that are not zero, and their indices. Many derivatives are zero, because their
// activation was clipped.
typedef struct Active {
    int count;
    int at[NET_HIDDEN];
    float d[NET_HIDDEN];
} Active;
_Static_assert((int)TRAIN_BLOCK <= (int)NET_HIDDEN, "an Active holds a block's positions too");

// The derivatives lie `stride` floats apart.
static inline Active active_of(const float *derivatives, int count, int stride) {
    Active active;
    active.count = 0;
    for (int i = 0; i < count; i++) {
        float d = derivatives[i * stride];
        active.at[active.count] = i;
        active.d[active.count] = d;
        active.count += d != 0;
    }
    return active;
}

// to += the active rows of `rows`, each times its derivative. A part of `to` stays in the registers
// until all rows are added. `size` must be a constant after inlining.
static inline void add_active(float *to, const Active *active, const float *rows, int size) {
    const int parts = size / LANES < MODEL_PART ? size / LANES : MODEL_PART;
    for (int at = 0; at < size; at += parts * LANES) {
        FloatLanes sum[MODEL_PART] = {{0}};
        for (int part = 0; part < parts; part++)
            sum[part] = lanes(to + at)[part];
        for (int i = 0; i < active->count; i++)
            for (int part = 0; part < parts; part++)
                sum[part] += active->d[i] * lanes(rows + active->at[i] * size + at)[part];
        memcpy(to + at, sum, (size_t)parts * sizeof *sum);
    }
}

// Backpropagation through a layer. `dout` is the derivative with respect to the layer's sums. The
// function adds the gradients of weights and bias, and stores in `din` the derivative with respect
// to the inputs of the previous activations.
static inline void layer_backward(const float *weights, int inputs, const float *in,
                                  float (*dout)[NET_HIDDEN], int positions, float *weights_gradient,
                                  float *bias_gradient, float *din) {
    memset(din, 0, (size_t)(positions * inputs) * sizeof(float));
    for (int p = 0; p < positions; p++) {
        Active active = active_of(dout[p], NET_HIDDEN, 1);
        add_active(din + p * inputs, &active, weights, inputs);
    }
    for (int o = 0; o < NET_HIDDEN; o++) {
        Active active = active_of(&dout[0][o], positions, NET_HIDDEN);
        add_active(weights_gradient + o * inputs, &active, in, inputs);
        for (int i = 0; i < active.count; i++)
            bias_gradient[o] += active.d[i];
    }
    gate_all(din, in, positions * inputs);
}

static void output_backward(const TrainDense *dense, TrainBlock *block, TrainDense *gradient) {
    for (int p = 0; p < block->count; p++) {
        float d = block->dout[p];
        gradient->b3 += d;
        add_scaled(gradient->w3, block->h2[p], d, NET_HIDDEN);
        for (int i = 0; i < NET_HIDDEN; i++)
            block->dh2[p][i] = d * dense->w3[i];
    }
    gate_all(block->dh2[0], block->h2[0], block->count * NET_HIDDEN);
}

static void accumulate_backward(const TrainFeatures *features, const float *dx, Weights *gradient) {
    for (int view = 0; view < 2; view++) {
        const float *d = dx + view * NET_WIDTH;
        add(weights_dense(gradient)->bias, d, NET_WIDTH);
        for (int i = 0; i < features->count; i++)
            add(weights_row(gradient, features->rows[view][i]), d, NET_WIDTH);
    }
}

void train_backward(const Weights *running, TrainBlock *block, Weights *gradient) {
    const TrainDense *dense = weights_dense(running);
    TrainDense *to = weights_dense(gradient);
    int n = block->count;
    output_backward(dense, block, to);
    layer_backward(dense->w2[0], NET_HIDDEN, block->h1[0], block->dh2, n, to->w2[0], to->b2,
                   block->dh1[0]);
    layer_backward(dense->w1[0], NET_INPUTS, block->x[0], block->dh1, n, to->w1[0], to->b1,
                   block->dx[0]);
    for (int p = 0; p < n; p++)
        accumulate_backward(&block->features[p], block->dx[p], gradient);
}

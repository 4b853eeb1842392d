// Makes the quantised net from the net in floating point, and evaluates it.
#include "learn/train_quantise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/train_loss.h"

enum {
    ONE = (int)TRAIN_ONE,
    WEIGHT_ONE = (int)TRAIN_WEIGHT_ONE,
    SHIFT = 6,
    HALF = 1 << (SHIFT - 1)
};

// ---- quantisation ------------------------------------------------------------------------------

static long rounded(float value, float scale, long most) {
    long n = lrintf(value * scale);
    return n > most ? most : n < -most ? -most : n;
}

static void quantise_int16(const float *from, int16_t *to, size_t count) {
    for (size_t i = 0; i < count; i++)
        to[i] = (int16_t)rounded(from[i], ONE, INT16_MAX);
}
static void quantise_int8(const float *from, int8_t *to, size_t count, float scale) {
    for (size_t i = 0; i < count; i++)
        to[i] = (int8_t)rounded(from[i], scale, INT8_MAX);
}
static void quantise_bias(const float *from, int32_t *to, size_t count) {
    for (size_t i = 0; i < count; i++)
        to[i] = (int32_t)rounded(from[i], WEIGHT_ONE * ONE, INT32_MAX / 2) + HALF;
}

void train_quantise(const Weights *running, const uint8_t bucket_of[32], CompactNet *out) {
    const TrainDense *dense = weights_dense(running);
    compact_init(out, running->blocks);
    memcpy(out->bucket_of, bucket_of, sizeof out->bucket_of);
    quantise_int16(dense->bias, out->bias, NET_WIDTH);
    quantise_int16(running->all, out->rows[0], (size_t)running->blocks * NET_FEATURES * NET_WIDTH);
    quantise_int8(dense->w1[0], out->dense.w1[0], sizeof out->dense.w1, WEIGHT_ONE);
    quantise_bias(dense->b1, out->dense.b1, NET_HIDDEN);
    quantise_int8(dense->w2[0], out->dense.w2[0], sizeof out->dense.w2, WEIGHT_ONE);
    quantise_bias(dense->b2, out->dense.b2, NET_HIDDEN);
    quantise_int8(dense->w3, out->dense.w3, NET_HIDDEN, TRAIN_RAW_PER_OUTPUT / ONE);
    out->dense.b3 = (int32_t)rounded(dense->b3, TRAIN_RAW_PER_OUTPUT, INT32_MAX / 2);
}

// ---- the inverse -------------------------------------------------------------------------------

static const int16_t *row_of_bucket(const CompactNet *net, const uint8_t bucket_of[32], int bucket,
                                    int feature) {
    int square = 0;
    while (bucket_of[square] != bucket)
        square++;
    return net->rows[net->bucket_of[square] * NET_FEATURES + feature];
}

static void take_feature(const CompactNet *net, const uint8_t bucket_of[32], int feature,
                         Weights *learned) {
    int buckets = learned->blocks - 1;
    float *shared = weights_row(learned, (size_t)feature);
    memset(shared, 0, NET_WIDTH * sizeof *shared);
    for (int bucket = 0; bucket < buckets; bucket++) {
        const int16_t *row = row_of_bucket(net, bucket_of, bucket, feature);
        for (int i = 0; i < NET_WIDTH; i++)
            shared[i] += (float)row[i] / (float)(ONE * buckets);
    }
    for (int bucket = 0; bucket < buckets; bucket++) {
        const int16_t *row = row_of_bucket(net, bucket_of, bucket, feature);
        float *own = weights_row(learned, (size_t)((bucket + 1) * NET_FEATURES + feature));
        for (int i = 0; i < NET_WIDTH; i++)
            own[i] = (float)row[i] / ONE - shared[i];
    }
}

static void take_weights(const int8_t *from, float *to, size_t count, float scale) {
    for (size_t i = 0; i < count; i++)
        to[i] = (float)from[i] / scale;
}
static void take_bias(const int32_t *from, float *to, size_t count) {
    for (size_t i = 0; i < count; i++)
        to[i] = (float)(from[i] - HALF) / (WEIGHT_ONE * ONE);
}

void train_dequantise(const CompactNet *net, const uint8_t bucket_of[32], Weights *learned) {
    TrainDense *dense = weights_dense(learned);
    for (int feature = 0; feature < NET_FEATURES; feature++)
        take_feature(net, bucket_of, feature, learned);
    for (int i = 0; i < NET_WIDTH; i++)
        dense->bias[i] = (float)net->bias[i] / ONE;
    take_weights(net->dense.w1[0], dense->w1[0], sizeof net->dense.w1, WEIGHT_ONE);
    take_bias(net->dense.b1, dense->b1, NET_HIDDEN);
    take_weights(net->dense.w2[0], dense->w2[0], sizeof net->dense.w2, WEIGHT_ONE);
    take_bias(net->dense.b2, dense->b2, NET_HIDDEN);
    take_weights(net->dense.w3, dense->w3, NET_HIDDEN, TRAIN_RAW_PER_OUTPUT / ONE);
    dense->b3 = (float)net->dense.b3 / TRAIN_RAW_PER_OUTPUT;
}

// ---- evaluation --------------------------------------------------------------------------------

static int clipped(int value) {
    return value < 0 ? 0 : value > ONE ? ONE : value;
}

// The accumulator of one view. Returns the largest absolute value before clipping.
static int accumulate(const CompactNet *net, const uint16_t *rows, int count, int out[NET_WIDTH]) {
    int most = 0;
    for (int i = 0; i < NET_WIDTH; i++)
        out[i] = net->bias[i];
    for (int r = 0; r < count; r++)
        for (int i = 0; i < NET_WIDTH; i++)
            out[i] += net->rows[rows[r]][i];
    for (int i = 0; i < NET_WIDTH; i++) {
        int size = abs(out[i]);
        most = size > most ? size : most;
        out[i] = clipped(out[i]);
    }
    return most;
}

static int hidden(const int8_t *weights, int bias, const int *in, int count) {
    int sum = bias;
    for (int i = 0; i < count; i++)
        sum += weights[i] * in[i];
    return clipped(sum >> SHIFT);
}

int32_t train_quantised(const CompactNet *net, const TrainFeatures *features,
                        int *accumulator_most) {
    const NetDense *dense = &net->dense;
    int x[NET_INPUTS], h1[NET_HIDDEN], h2[NET_HIDDEN], raw = dense->b3;
    for (int view = 0; view < 2; view++) {
        int most = accumulate(net, features->rows[view], features->count, x + view * NET_WIDTH);
        if (most > *accumulator_most)
            *accumulator_most = most;
    }
    for (int o = 0; o < NET_HIDDEN; o++)
        h1[o] = hidden(dense->w1[o], dense->b1[o], x, NET_INPUTS);
    for (int o = 0; o < NET_HIDDEN; o++)
        h2[o] = hidden(dense->w2[o], dense->b2[o], h1, NET_HIDDEN);
    for (int i = 0; i < NET_HIDDEN; i++)
        raw += dense->w3[i] * h2[i];
    return raw;
}

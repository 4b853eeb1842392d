// The net during training: HalfKP 256x2-32-32-1 in floating point, with its forward and backward
// pass. Shapes are those of nnue.h. A clipped ReLU ends at 1.0, and an output of 1.0 is 600 units.
//
// In the first layer, each row belongs to a feature (64 * plane + square) in a king bucket. The
// optimiser learns rows for each bucket and rows shared by all buckets (a "factoriser"). The
// running net, which is evaluated and exported, has the sums of both. So the running net has
// `buckets` blocks of NET_FEATURES rows; the learned weights have one more block before them, the
// shared rows.
#pragma once

#include <stddef.h>

#include "learn/train_position.h"

// The layers after the first, and its bias. It contains only floats, so that it can be used as a
// vector.
typedef struct TrainDense {
    float bias[NET_WIDTH];
    float w1[NET_HIDDEN][NET_INPUTS];
    float b1[NET_HIDDEN];
    float w2[NET_HIDDEN][NET_HIDDEN];
    float b2[NET_HIDDEN];
    float w3[NET_HIDDEN];
    float b3;
    float unused[15]; // stays zero; aligns the next member to a cache line
} TrainDense;

// The values of the quantised net that represent 1: in activations, in the weights of the hidden
// layers, and in the output.
#define TRAIN_ONE 127.0f
#define TRAIN_WEIGHT_ONE 64.0f
#define TRAIN_RAW_PER_OUTPUT 9600.0f

// Weights, or gradients or moments of the same shape: blocks * NET_FEATURES rows of NET_WIDTH
// floats, then a TrainDense.
typedef struct Weights {
    int blocks;
    size_t count; // number of floats
    float *all;   // 64-byte aligned
} Weights;

void weights_init(Weights *weights, int blocks); // all zero; out of memory ends the process
void weights_release(Weights *weights);
static inline float *weights_row(const Weights *weights, size_t row) {
    return weights->all + row * NET_WIDTH;
}
static inline TrainDense *weights_dense(const Weights *weights) {
    return (TrainDense *)(void *)weights_row(weights, (size_t)weights->blocks * NET_FEATURES);
}

// The bucket of each king square, for 1, 2, 4, 8 or 16 buckets. NULL for another number.
const uint8_t *train_buckets(int buckets);

// Chooses random start weights for the shared rows and the dense layers. The rows of the buckets
// are zero.
void weights_start(Weights *learned, uint64_t seed);
// Computes the running weights from the learned ones: running = shared + bucket for the features
// [first, last) of every bucket, and the dense layers. All weights are rounded to values of the
// quantised net, so that training includes the rounding errors. Gradients ignore the rounding
// (Bengio, Léonard and Courville, "Estimating or propagating gradients through stochastic neurons",
// 2013: the straight-through estimator).
void weights_fold(const Weights *learned, Weights *running, int first, int last);
void weights_fold_dense(const Weights *learned, Weights *running);

// ---- one block of positions --------------------------------------------------------------------

// Small enough that the data of the dense layers stays in the first-level cache.
enum { TRAIN_BLOCK = 16 };

// Activations. The members d… are the derivatives of the loss with respect to the inputs of the
// activations.
typedef struct TrainBlock {
    int count; // number of positions, at most TRAIN_BLOCK
    TrainFeatures features[TRAIN_BLOCK];
    float out[TRAIN_BLOCK], dout[TRAIN_BLOCK];
    float h2[TRAIN_BLOCK][NET_HIDDEN], dh2[TRAIN_BLOCK][NET_HIDDEN];
    float h1[TRAIN_BLOCK][NET_HIDDEN], dh1[TRAIN_BLOCK][NET_HIDDEN];
    float x[TRAIN_BLOCK][NET_INPUTS], dx[TRAIN_BLOCK][NET_INPUTS];
} TrainBlock;

// Computes everything from `features` to `out`.
void train_forward(const Weights *running, TrainBlock *block);
// Computes the gradients from `dout`, after train_forward(), and adds them to `gradient`, which has
// the shape of `running`.
void train_backward(const Weights *running, TrainBlock *block, Weights *gradient);

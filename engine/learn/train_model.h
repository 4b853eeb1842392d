// The net while it learns: HalfKP 256x2-32-32-1 in floating point, forwards and backwards. Shapes
// are those of nnue.h; 1.0 is what a clipped ReLU stops at, and the output is in units of 600.
//
// Of the first layer a row stands for a feature (64 * plane + square) in a king bucket. What is
// learned are rows of the buckets and rows shared by all of them (a "factoriser"); the net that
// runs has their sums, which is also what is exported. So the running net has `buckets` blocks of
// NET_FEATURES rows, the learned one a block more in front: the shared one.
#pragma once

#include <stddef.h>

#include "learn/train_position.h"

// The layers behind the first, and its bias. Nothing but floats, so that it is a vector too.
typedef struct TrainDense {
    float bias[NET_WIDTH];
    float w1[NET_HIDDEN][NET_INPUTS];
    float b1[NET_HIDDEN];
    float w2[NET_HIDDEN][NET_HIDDEN];
    float b2[NET_HIDDEN];
    float w3[NET_HIDDEN];
    float b3;
    float unused[15]; // stays zero; keeps what follows on a cache line's border
} TrainDense;

// Units of the quantised net: what stands for 1 in activations, in the hidden layers' weights and
// in the output.
#define TRAIN_ONE 127.0f
#define TRAIN_WEIGHT_ONE 64.0f
#define TRAIN_RAW_PER_OUTPUT 9600.0f

// Weights, or as many gradients or moments, one after the other: blocks * NET_FEATURES rows of
// NET_WIDTH, then a TrainDense.
typedef struct Weights {
    int blocks;
    size_t count; // of all floats
    float *all;   // 64-byte aligned
} Weights;

void weights_init(Weights *weights, int blocks); // zero; out of memory ends the process
void weights_release(Weights *weights);
static inline float *weights_row(const Weights *weights, size_t row) {
    return weights->all + row * NET_WIDTH;
}
static inline TrainDense *weights_dense(const Weights *weights) {
    return (TrainDense *)(void *)weights_row(weights, (size_t)weights->blocks * NET_FEATURES);
}

// King buckets: 1, 2, 4, 8 or 16 of them. NULL for another number.
const uint8_t *train_buckets(int buckets);

// Random weights to begin with: the shared rows and the dense layers; the buckets' rows are zero.
void weights_start(Weights *learned, uint64_t seed);
// From the weights that learn to those that run: running = shared + bucket for the features
// [first, last) of every bucket, and the dense layers. All are rounded to what the quantised net
// can hold, so that training sees what rounding costs and learns around it; gradients pass as if
// there were no rounding (Bengio, Léonard and Courville, "Estimating or propagating gradients
// through stochastic neurons", 2013: the straight-through estimator).
void weights_fold(const Weights *learned, Weights *running, int first, int last);
void weights_fold_dense(const Weights *learned, Weights *running);

// ---- one block of positions --------------------------------------------------------------------

// Few enough that what the dense layers read stays in the first cache.
enum { TRAIN_BLOCK = 16 };

// Activations, and in d… the loss's derivative by what goes into the activation.
typedef struct TrainBlock {
    int count; // of positions, at most TRAIN_BLOCK
    TrainFeatures features[TRAIN_BLOCK];
    float out[TRAIN_BLOCK], dout[TRAIN_BLOCK];
    float h2[TRAIN_BLOCK][NET_HIDDEN], dh2[TRAIN_BLOCK][NET_HIDDEN];
    float h1[TRAIN_BLOCK][NET_HIDDEN], dh1[TRAIN_BLOCK][NET_HIDDEN];
    float x[TRAIN_BLOCK][NET_INPUTS], dx[TRAIN_BLOCK][NET_INPUTS];
} TrainBlock;

// From `features` to `out`.
void train_forward(const Weights *running, TrainBlock *block);
// From `dout`, after train_forward; adds to `gradient`, which has the shape of `running`.
void train_backward(const Weights *running, TrainBlock *block, Weights *gradient);

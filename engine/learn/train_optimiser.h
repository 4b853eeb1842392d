// The optimiser: AdamW (Kingma and Ba, "Adam", 2015; Loshchilov and Hutter, "Decoupled weight decay
// regularization", 2019). After each step every weight is clipped to the range that its quantised
// form can hold.
#pragma once

#include "learn/train_model.h"

// The limits of weights. An int8 holds at most 127, which means 127/64 in w1 and w2, and 127 * 127
// / 9600 in w3. Rows are clipped so that no accumulator can overflow 16 bits: 30 pieces at twice
// ROW_LIMIT (shared and own) and the bias add up to less than 128 * 127.
#define TRAIN_ROW_LIMIT 1.98f
#define TRAIN_BIAS_LIMIT 8.0f
#define TRAIN_HIDDEN_LIMIT (127.0f / 64.0f)
#define TRAIN_OUTPUT_LIMIT (127.0f * 127.0f / 9600.0f)

typedef struct Optimiser {
    Weights learned;      // shared rows, then rows of the buckets; see train_model.h
    Weights mean, square; // running means of the gradient and of its square
    int64_t steps;        // made so far
} Optimiser;

void optimiser_init(Optimiser *optimiser, int buckets); // all zero
void optimiser_release(Optimiser *optimiser);

// The rates of one step.
typedef struct StepRates {
    float rate, decay;                        // decay: share of a weight, times the rate
    float mean_correction, square_correction; // 1 / (1 - beta^step)
} StepRates;
// The rates of the next step, after the `steps` done so far.
StepRates optimiser_rates(const Optimiser *optimiser, double rate, double decay);

// The learning rate of step `step` of `total`. It rises linearly from 0 over the first twentieth,
// at most 1000 steps, and then falls along half a cosine to a hundredth of `base` (Loshchilov and
// Hutter, "SGDR", 2017).
double optimiser_schedule(double base, int64_t step, int64_t total);

// One step. The gradients of `count` threads are summed in the order of the threads, so that a run
// can be repeated, then applied, and set to zero. The first function does the features [first,
// last) of every bucket and writes the new sums to `running`; the second does the dense layers.
// Calls for different features, and the call for the dense layers, may run at the same time.
void optimiser_step_rows(Optimiser *optimiser, const StepRates *rates, Weights *gradients,
                         int count, int first, int last, Weights *running);
void optimiser_step_dense(Optimiser *optimiser, const StepRates *rates, Weights *gradients,
                          int count, Weights *running);

// AdamW over the rows of the first layer and the dense layers.
#include "learn/train_optimiser.h"

#include <math.h>
#include <string.h>

#define BETA_MEAN 0.9f
#define BETA_SQUARE 0.999f
#define EPSILON 1e-8f

void optimiser_init(Optimiser *optimiser, int buckets) {
    optimiser->steps = 0;
    weights_init(&optimiser->learned, buckets + 1);
    weights_init(&optimiser->mean, buckets + 1);
    weights_init(&optimiser->square, buckets + 1);
}

void optimiser_release(Optimiser *optimiser) {
    weights_release(&optimiser->learned);
    weights_release(&optimiser->mean);
    weights_release(&optimiser->square);
}

StepRates optimiser_rates(const Optimiser *optimiser, double rate, double decay) {
    double step = (double)optimiser->steps + 1;
    return (StepRates){.rate = (float)rate,
                       .decay = (float)decay,
                       .mean_correction = (float)(1 / (1 - pow(BETA_MEAN, step))),
                       .square_correction = (float)(1 / (1 - pow(BETA_SQUARE, step)))};
}

double optimiser_schedule(double base, int64_t step, int64_t total) {
    enum { WARM_MOST = 1000 };
    const double pi = 3.14159265358979323846, least = 0.01;
    int64_t warm = total / 20 < WARM_MOST ? total / 20 : WARM_MOST;
    if (step < warm)
        return base * (double)(step + 1) / (double)(warm + 1);
    double done = (double)(step - warm) / (double)(total - warm);
    return base * (least + (1 - least) * (1 + cos(pi * done)) / 2);
}

// ---- an array of weights -----------------------------------------------------------------------

static inline void adam(float *restrict weights, float *restrict mean, float *restrict square,
                        const float *restrict gradient, int count, const StepRates *rates,
                        float decay, float limit) {
    const StepRates r = *rates;
    for (int i = 0; i < count; i++) {
        float g = gradient[i];
        mean[i] = BETA_MEAN * mean[i] + (1 - BETA_MEAN) * g;
        square[i] = BETA_SQUARE * square[i] + (1 - BETA_SQUARE) * g * g;
        float m = mean[i] * r.mean_correction, s = square[i] * r.square_correction;
        float w = weights[i] - r.rate * (m / (sqrtf(s) + EPSILON) + decay * weights[i]);
        w = w < limit ? w : limit;
        weights[i] = w > -limit ? w : -limit;
    }
}

// Sums `size` floats at `offset` of every gradient into `out`, and sets them to zero.
static inline void gather(Weights *gradients, int count, size_t offset, int size,
                          float *restrict out) {
    memset(out, 0, (size_t)size * sizeof(float));
    for (int t = 0; t < count; t++) {
        float *from = gradients[t].all + offset;
        for (int i = 0; i < size; i++)
            out[i] += from[i];
        memset(from, 0, (size_t)size * sizeof(float));
    }
}

// ---- rows --------------------------------------------------------------------------------------

static void step_row(Optimiser *optimiser, const StepRates *rates, const float *gradient,
                     size_t row) {
    adam(weights_row(&optimiser->learned, row), weights_row(&optimiser->mean, row),
         weights_row(&optimiser->square, row), gradient, NET_WIDTH, rates, rates->decay,
         TRAIN_ROW_LIMIT);
}

void optimiser_step_rows(Optimiser *optimiser, const StepRates *rates, Weights *gradients,
                         int count, int first, int last, Weights *running) {
    for (int feature = first; feature < last; feature++) {
        float shared[NET_WIDTH] = {0}, own[NET_WIDTH];
        for (int bucket = 0; bucket < running->blocks; bucket++) {
            size_t row = (size_t)bucket * NET_FEATURES + (size_t)feature;
            gather(gradients, count, row * NET_WIDTH, NET_WIDTH, own);
            for (int i = 0; i < NET_WIDTH; i++)
                shared[i] += own[i];
            step_row(optimiser, rates, own, row + NET_FEATURES);
        }
        step_row(optimiser, rates, shared, (size_t)feature);
    }
    weights_fold(&optimiser->learned, running, first, last);
}

// ---- dense layers ------------------------------------------------------------------------------

typedef struct Segment {
    size_t offset, count; // in floats
    float limit;
    bool decays;
} Segment;

#define SEGMENT(field, most, is_weight)                                                            \
    {                                                                                              \
        offsetof(TrainDense, field) / sizeof(float),                                               \
            sizeof(((TrainDense *)0)->field) / sizeof(float), most, is_weight                      \
    }
#define NO_LIMIT 1e6f
static const Segment SEGMENTS[] = {
    SEGMENT(bias, TRAIN_BIAS_LIMIT, false), SEGMENT(w1, TRAIN_HIDDEN_LIMIT, true),
    SEGMENT(b1, NO_LIMIT, false),           SEGMENT(w2, TRAIN_HIDDEN_LIMIT, true),
    SEGMENT(b2, NO_LIMIT, false),           SEGMENT(w3, TRAIN_OUTPUT_LIMIT, true),
    SEGMENT(b3, NO_LIMIT, false),
};

static void step_segment(Optimiser *optimiser, const StepRates *rates, Weights *gradients,
                         int count, const Segment *segment) {
    enum { OPTIMISER_PART = 256 };
    float gradient[OPTIMISER_PART];
    size_t end = segment->offset + segment->count;
    size_t behind_rows = (size_t)gradients[0].blocks * NET_FEATURES * NET_WIDTH;
    float *weights = (float *)(void *)weights_dense(&optimiser->learned);
    float *mean = (float *)(void *)weights_dense(&optimiser->mean);
    float *square = (float *)(void *)weights_dense(&optimiser->square);
    for (size_t at = segment->offset; at < end; at += OPTIMISER_PART) {
        int size = end - at < OPTIMISER_PART ? (int)(end - at) : OPTIMISER_PART;
        gather(gradients, count, behind_rows + at, size, gradient);
        adam(weights + at, mean + at, square + at, gradient, size, rates,
             segment->decays ? rates->decay : 0, segment->limit);
    }
}

void optimiser_step_dense(Optimiser *optimiser, const StepRates *rates, Weights *gradients,
                          int count, Weights *running) {
    for (size_t i = 0; i < sizeof SEGMENTS / sizeof *SEGMENTS; i++)
        step_segment(optimiser, rates, gradients, count, &SEGMENTS[i]);
    weights_fold_dense(&optimiser->learned, running);
}

// What the trainer minimises. A score becomes a probability of winning, p = sigmoid(units / scale),
// with 208 units a pawn; so does the net's output, 600 units for 1.0. The target is
// lambda * p(score) + (1 - lambda) * result.
//
// The loss is the square of the difference. (Cross entropy less the entropies, as the first
// trainers of this form had it, has its minimum in the same place, but goes on pulling at positions
// that are long decided; the square leaves them alone and spends the net on those that are not.)
#pragma once

#include <math.h>

#include "learn/train_position.h"

typedef struct LossRule {
    float lambda, scale;
} LossRule;

#define TRAIN_UNITS_PER_OUTPUT 600.0f
#define TRAIN_UNITS_PER_CENTIPAWN 2.08f

static inline float sigmoid(float x) {
    return 1 / (1 + expf(-x));
}
// The probability of winning for a score in centipawns, or for an output of the net.
static inline float chance_of_score(const LossRule *rule, int centipawns) {
    return sigmoid(TRAIN_UNITS_PER_CENTIPAWN * (float)centipawns / rule->scale);
}
static inline float chance_of_output(const LossRule *rule, float out) {
    return sigmoid(TRAIN_UNITS_PER_OUTPUT * out / rule->scale);
}
static inline float loss_target(const LossRule *rule, const TrainPosition *position) {
    float chance = chance_of_score(rule, position->score), result = 0.5f * (float)position->result;
    return rule->lambda * chance + (1 - rule->lambda) * result;
}
// The loss of predicting q, and its derivative by the output that gave q.
static inline float loss_value(float q, float target) {
    return (q - target) * (q - target);
}
static inline float loss_slope(const LossRule *rule, float q, float target) {
    return 2 * (q - target) * q * (1 - q) * TRAIN_UNITS_PER_OUTPUT / rule->scale;
}

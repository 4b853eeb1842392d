// The loss that the trainer minimises. A score and the net's output both become a probability of
// winning, p = sigmoid(units / scale). A pawn is 208 units; an output of 1.0 is 600 units. The
// target is lambda * p(score) + (1 - lambda) * result.
//
// The loss is the square of the difference between p(output) and the target. The first trainers of
// this form used the cross entropy minus the entropies. It has the same minimum, but large
// gradients at decided positions. The square has small gradients there, so the net learns more from
// the other positions.
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
// The loss of the prediction q, and its derivative by the output that gave q.
static inline float loss_value(float q, float target) {
    return (q - target) * (q - target);
}
static inline float loss_slope(const LossRule *rule, float q, float target) {
    return 2 * (q - target) * q * (1 - q) * TRAIN_UNITS_PER_OUTPUT / rule->scale;
}

// The trainer's random numbers. Each use has a stream of its own, so a run that is continued does
// not need to know how many numbers were drawn before.
#pragma once

#include "base/random.h"

typedef enum {
    STREAM_WEIGHTS,
    STREAM_PROBES,
    STREAM_ORDER, // + epoch; the last one
} RandomStream;

// A random number in [0, n), by the high half of a product (Lemire, "Fast random integer generation
// in an interval", 2019). For n = 100 million some numbers are 2 % more likely than others.
static inline uint32_t random_index(uint64_t *state, uint32_t n) {
    return (uint32_t)((random_next(state) >> 32) * n >> 32);
}
// A random number in [-range, range).
static inline float random_float(uint64_t *state, float range) {
    float unit = (float)(random_next(state) >> 40) / (float)(1 << 24);
    return (2 * unit - 1) * range;
}

// Random numbers for openings, self-play and training. They are the same on every machine. They
// must not be used for secrets.
#pragma once

#include <stdint.h>

// xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators", 2016).
// `*state` is never 0.
static inline uint64_t random_next(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

// 0 to n - 1.
static inline int random_below(uint64_t *state, int n) {
    return (int)((random_next(state) >> 33) % (uint64_t)n);
}

// The finaliser of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
// generators", 2014): a change of one bit of `x` changes each bit of the result with probability
// 1/2.
static inline uint64_t random_mix(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

// The initial state of stream `number` of `seed`. The streams are independent of each other.
static inline uint64_t random_stream(uint64_t seed, uint64_t number) {
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t state = random_mix(random_mix(seed + golden) + (number + 1) * golden);
    return state ? state : golden;
}

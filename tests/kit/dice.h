// Random numbers of a property test, the same in each run from a seed: Knuth's generator of MMIX.
#pragma once

#include <stdint.h>

static uint64_t dice;

// From 0 to sides - 1.
static inline int roll(int64_t sides) {
    dice = dice * 6364136223846793005u + 1442695040888963407u;
    return (int)((dice >> 33) % (uint64_t)sides);
}

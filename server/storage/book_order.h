// The order in which a test plays the openings of its book.
#pragma once

#include <stdint.h>

// Element i of the seed's permutation of 0 … size-1: a Feistel network over the next even power of
// two, repeated until the value is below `size`. Pure; the result is the same on every machine and
// never changes.
uint64_t book_order(uint64_t seed, uint64_t i, uint64_t size);

// The order in which a test takes its openings: see book.h.
#include "server/storage/book_order.h"

// A round function. Any fixed mixing works, but it must never change: a running test would get
// other openings. (Multipliers of the splitmix64 generator, Steele, Lea and Flood 2014.)
static uint64_t mix(uint64_t x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9;
    x ^= x >> 27;
    x *= 0x94d049bb133111eb;
    return x ^ x >> 31;
}

// A balanced Feistel network is a permutation of 2·half bits for any round function (Luby and
// Rackoff 1988).
static uint64_t feistel(uint64_t seed, uint64_t x, int half) {
    uint64_t mask = (1ULL << half) - 1, left = x >> half, right = x & mask;
    for (uint64_t round = 1; round <= 6; round++) {
        uint64_t next = left ^ (mix(seed ^ mix(right + (round << 56))) & mask);
        left = right;
        right = next;
    }
    return left << half | right;
}

// A value outside the domain is permuted again until one is inside (Black and Rogaway 2002). That
// takes at most four steps on average, because the range is less than four times the domain.
uint64_t book_order(uint64_t seed, uint64_t i, uint64_t size) {
    int half = 1;
    while (half < 31 && 1ULL << (2 * half) < size)
        half++;
    uint64_t x = i;
    do
        x = feistel(seed, x, half);
    while (x >= size);
    return x;
}

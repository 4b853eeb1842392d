// The arithmetic of the net with vectors of 32 bytes: accumulate() and forward(). Each kernel that
// uses it includes this file once, and defines:
//   TARGET              an attribute that lets the compiler use the kernel's instructions
//   multiply_add()      adds four products to each of eight sums; a product is one unsigned byte
//                       times one signed byte
#include <immintrin.h>
#include <string.h>

#define VECTOR_BYTES 32
#include "nnue/kernel_lanes.h"

TARGET static inline __m256i multiply_add(__m256i sums, __m256i in, __m256i weights);

TARGET static inline __m256i load(const void *at) {
    return _mm256_loadu_si256(at);
}

// Clips a view's accumulator to bytes. Bit i of the result is set if the i-th group of four bytes
// is not all zero.
TARGET static uint64_t clip(const int16_t *in, uint8_t out[NET_WIDTH]) {
    const __m256i zero = _mm256_setzero_si256();
    uint64_t live = 0;
    for (int i = 0; i < NET_WIDTH; i += 32) {
        __m256i bytes = _mm256_packs_epi16(load(in + i), load(in + i + 16));
        bytes = _mm256_permute4x64_epi64(bytes, 0xd8); // the pack instruction works on each half
        bytes = _mm256_max_epi8(bytes, zero);
        _mm256_storeu_si256((__m256i *)(out + i), bytes);
        __m256i is_live = _mm256_cmpgt_epi32(bytes, zero);
        live |= (uint64_t)_mm256_movemask_ps(_mm256_castsi256_ps(is_live)) << (i / 4);
    }
    return live;
}

typedef struct Sums256 {
    __m256i a, b, c, d; // of eight outputs each
} Sums256;

TARGET static inline void sums_init(Sums256 *sums, const int32_t bias[NET_HIDDEN]) {
    sums->a = load(bias);
    sums->b = load(bias + 8);
    sums->c = load(bias + 16);
    sums->d = load(bias + 24);
}

TARGET static inline void sums_add(Sums256 *sums, const uint8_t *in, const int8_t (*w)[4]) {
    int32_t four;
    memcpy(&four, in, sizeof four);
    __m256i all = _mm256_set1_epi32(four);
    sums->a = multiply_add(sums->a, all, load(w));
    sums->b = multiply_add(sums->b, all, load(w + 8));
    sums->c = multiply_add(sums->c, all, load(w + 16));
    sums->d = multiply_add(sums->d, all, load(w + 24));
}

// The 32 bytes of the next layer, in order.
TARGET static inline __m256i sums_clip(const Sums256 *sums) {
    __m256i ab = _mm256_packs_epi32(_mm256_srai_epi32(sums->a, NET_SHIFT),
                                    _mm256_srai_epi32(sums->b, NET_SHIFT));
    __m256i cd = _mm256_packs_epi32(_mm256_srai_epi32(sums->c, NET_SHIFT),
                                    _mm256_srai_epi32(sums->d, NET_SHIFT));
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(ab, cd), order);
    return _mm256_max_epi8(bytes, _mm256_setzero_si256());
}

// The first layer. Both views are added in turn, to sums of their own, so that no addition waits
// for the one before.
TARGET static inline void sums_add_live(Sums256 *sums, const uint8_t *x, uint64_t us, uint64_t them,
                                        const int8_t (*w)[NET_HIDDEN][4]) {
    Sums256 other = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(),
                     _mm256_setzero_si256()};
    for (; us && them; us &= us - 1, them &= them - 1) {
        int i = __builtin_ctzll(us), j = NET_WIDTH / 4 + __builtin_ctzll(them);
        sums_add(sums, x + 4 * i, w[i]);
        sums_add(&other, x + 4 * j, w[j]);
    }
    for (; us; us &= us - 1) {
        int i = __builtin_ctzll(us);
        sums_add(sums, x + 4 * i, w[i]);
    }
    for (; them; them &= them - 1) {
        int j = NET_WIDTH / 4 + __builtin_ctzll(them);
        sums_add(&other, x + 4 * j, w[j]);
    }
    sums->a = _mm256_add_epi32(sums->a, other.a);
    sums->b = _mm256_add_epi32(sums->b, other.b);
    sums->c = _mm256_add_epi32(sums->c, other.c);
    sums->d = _mm256_add_epi32(sums->d, other.d);
}

TARGET static inline int32_t sum_across(__m256i v) {
    __m128i four = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
}

TARGET static int32_t forward(const NetPacked *packed, const int16_t *us, const int16_t *them) {
    alignas(32) uint8_t x[NET_INPUTS], h1[NET_HIDDEN];
    Sums256 sums;
    uint64_t live_us = clip(us, x), live_them = clip(them, x + NET_WIDTH);
    sums_init(&sums, packed->b1);
    sums_add_live(&sums, x, live_us, live_them, packed->w1);
    _mm256_store_si256((__m256i *)h1, sums_clip(&sums));
    sums_init(&sums, packed->b2);
    for (int i = 0; i < NET_HIDDEN / 4; i++)
        sums_add(&sums, h1 + 4 * i, packed->w2[i]);
    __m256i raw = multiply_add(_mm256_setzero_si256(), sums_clip(&sums), load(packed->w3));
    return (int32_t)((uint32_t)sum_across(raw) + (uint32_t)packed->b3);
}

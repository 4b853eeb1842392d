// The net with AVX2: vectors of 32 bytes. Nothing here runs on a machine without; see kernel.c.
#include "kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#define VECTOR_BYTES 32
#define TARGET __attribute__((target("avx2")))
#include "kernel_lanes.h"

TARGET static inline __m256i load(const void *at) {
    return _mm256_loadu_si256(at);
}

// Clips a view's accumulator to bytes. Bit i of the result: the i-th four of them are not all zero.
TARGET static uint64_t clip(const int16_t *in, uint8_t out[NET_WIDTH]) {
    const __m256i zero = _mm256_setzero_si256();
    uint64_t live = 0;
    for (int i = 0; i < NET_WIDTH; i += 32) {
        __m256i bytes = _mm256_packs_epi16(load(in + i), load(in + i + 16));
        bytes = _mm256_permute4x64_epi64(bytes, 0xd8); // packing goes by halves
        bytes = _mm256_max_epi8(bytes, zero);
        _mm256_storeu_si256((__m256i *)(out + i), bytes);
        __m256i is_live = _mm256_cmpgt_epi32(bytes, zero);
        live |= (uint64_t)_mm256_movemask_ps(_mm256_castsi256_ps(is_live)) << (i / 4);
    }
    return live;
}

// Four inputs times four weights of eight outputs. A pair of products is at most 2 * 127 * 128 and
// fits 16 bits.
TARGET static inline __m256i multiply_add(__m256i sum, __m256i in, const int8_t (*w)[4]) {
    __m256i pairs = _mm256_maddubs_epi16(in, load(w));
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

typedef struct Sums {
    __m256i a, b, c, d; // of eight outputs each
} Sums;

TARGET static inline void sums_init(Sums *sums, const int32_t bias[NET_HIDDEN]) {
    sums->a = load(bias);
    sums->b = load(bias + 8);
    sums->c = load(bias + 16);
    sums->d = load(bias + 24);
}

TARGET static inline void sums_add(Sums *sums, const uint8_t *in, const int8_t (*w)[4]) {
    int32_t four;
    memcpy(&four, in, sizeof four);
    __m256i all = _mm256_set1_epi32(four);
    sums->a = multiply_add(sums->a, all, w);
    sums->b = multiply_add(sums->b, all, w + 8);
    sums->c = multiply_add(sums->c, all, w + 16);
    sums->d = multiply_add(sums->d, all, w + 24);
}

// The 32 bytes of the next layer, in order.
TARGET static inline __m256i sums_clip(const Sums *sums) {
    __m256i ab = _mm256_packs_epi32(_mm256_srai_epi32(sums->a, NET_SHIFT),
                                    _mm256_srai_epi32(sums->b, NET_SHIFT));
    __m256i cd = _mm256_packs_epi32(_mm256_srai_epi32(sums->c, NET_SHIFT),
                                    _mm256_srai_epi32(sums->d, NET_SHIFT));
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(ab, cd), order);
    return _mm256_max_epi8(bytes, _mm256_setzero_si256());
}

TARGET static inline void sums_add_live(Sums *sums, const uint8_t *in, uint64_t live,
                                        const int8_t (*w)[NET_HIDDEN][4]) {
    for (; live; live &= live - 1) {
        int i = __builtin_ctzll(live);
        sums_add(sums, in + 4 * i, w[i]);
    }
}

TARGET static inline int32_t sum_across(__m256i v) {
    __m128i four = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
}

TARGET static int32_t forward(const NetPacked *packed, const int16_t *us, const int16_t *them) {
    alignas(32) uint8_t x[NET_INPUTS], h1[NET_HIDDEN];
    Sums sums;
    uint64_t live_us = clip(us, x), live_them = clip(them, x + NET_WIDTH);
    sums_init(&sums, packed->b1);
    sums_add_live(&sums, x, live_us, packed->w1);
    sums_add_live(&sums, x + NET_WIDTH, live_them, packed->w1 + NET_WIDTH / 4);
    _mm256_store_si256((__m256i *)h1, sums_clip(&sums));
    sums_init(&sums, packed->b2);
    for (int i = 0; i < NET_HIDDEN / 4; i++)
        sums_add(&sums, h1 + 4 * i, packed->w2[i]);
    __m256i pairs = _mm256_maddubs_epi16(sums_clip(&sums), load(packed->w3));
    uint32_t raw = (uint32_t)sum_across(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
    return (int32_t)(raw + (uint32_t)packed->b3);
}

const NetKernel NET_KERNEL_AVX2 = {"AVX2", accumulate, forward};

#endif

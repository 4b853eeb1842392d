// The kernel for SSE4.1, with vectors of 16 bytes. It must only be called on a machine that has
// SSE4.1; kernels.c checks that.
#include "nnue/kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#define VECTOR_BYTES 16
#define TARGET __attribute__((target("sse4.1")))
#include "nnue/kernel_lanes.h"

TARGET static inline __m128i load(const void *at) {
    return _mm_loadu_si128(at);
}

// Clips a view's accumulator to bytes. Bit i of the result is set if the i-th group of four bytes
// is not all zero.
TARGET static uint64_t clip(const int16_t *in, uint8_t out[NET_WIDTH]) {
    const __m128i zero = _mm_setzero_si128();
    uint64_t live = 0;
    for (int i = 0; i < NET_WIDTH; i += 16) {
        __m128i bytes = _mm_max_epi8(_mm_packs_epi16(load(in + i), load(in + i + 8)), zero);
        _mm_storeu_si128((__m128i *)(out + i), bytes);
        __m128i is_live = _mm_cmpgt_epi32(bytes, zero);
        live |= (uint64_t)_mm_movemask_ps(_mm_castsi128_ps(is_live)) << (i / 4);
    }
    return live;
}

// Of four outputs each.
typedef struct Sums {
    __m128i v[NET_HIDDEN / 4];
} Sums;

TARGET static inline void sums_init(Sums *sums, const int32_t bias[NET_HIDDEN]) {
    for (int i = 0; i < NET_HIDDEN / 4; i++)
        sums->v[i] = load(bias + 4 * i);
}

// Four inputs times their weights for every output. A pair of products is at most 2 * 127 * 128 and
// fits 16 bits.
TARGET static inline void sums_add(Sums *sums, const uint8_t *in, const int8_t (*w)[4]) {
    int32_t four;
    memcpy(&four, in, sizeof four);
    __m128i all = _mm_set1_epi32(four), ones = _mm_set1_epi16(1);
    for (int i = 0; i < NET_HIDDEN / 4; i++) {
        __m128i pairs = _mm_maddubs_epi16(all, load(w + 4 * i));
        sums->v[i] = _mm_add_epi32(sums->v[i], _mm_madd_epi16(pairs, ones));
    }
}

TARGET static inline void sums_add_live(Sums *sums, const uint8_t *in, uint64_t live,
                                        const int8_t (*w)[NET_HIDDEN][4]) {
    for (; live; live &= live - 1) {
        int i = __builtin_ctzll(live);
        sums_add(sums, in + 4 * i, w[i]);
    }
}

// Sixteen bytes of the next layer from four vectors.
TARGET static inline __m128i clip_four(const __m128i *v) {
    __m128i low = _mm_packs_epi32(_mm_srai_epi32(v[0], NET_SHIFT), _mm_srai_epi32(v[1], NET_SHIFT));
    __m128i high =
        _mm_packs_epi32(_mm_srai_epi32(v[2], NET_SHIFT), _mm_srai_epi32(v[3], NET_SHIFT));
    return _mm_max_epi8(_mm_packs_epi16(low, high), _mm_setzero_si128());
}

TARGET static inline __m128i dot(__m128i in, const int8_t *w) {
    return _mm_madd_epi16(_mm_maddubs_epi16(in, load(w)), _mm_set1_epi16(1));
}

TARGET static inline int32_t sum_across(__m128i four) {
    __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
}

TARGET static int32_t forward(const NetPacked *packed, const int16_t *us, const int16_t *them) {
    alignas(16) uint8_t x[NET_INPUTS], h1[NET_HIDDEN];
    Sums sums;
    uint64_t live_us = clip(us, x), live_them = clip(them, x + NET_WIDTH);
    sums_init(&sums, packed->b1);
    sums_add_live(&sums, x, live_us, packed->w1);
    sums_add_live(&sums, x + NET_WIDTH, live_them, packed->w1 + NET_WIDTH / 4);
    _mm_store_si128((__m128i *)h1, clip_four(sums.v));
    _mm_store_si128((__m128i *)(h1 + 16), clip_four(sums.v + 4));
    sums_init(&sums, packed->b2);
    for (int i = 0; i < NET_HIDDEN / 4; i++)
        sums_add(&sums, h1 + 4 * i, packed->w2[i]);
    __m128i low = dot(clip_four(sums.v), packed->w3);
    __m128i high = dot(clip_four(sums.v + 4), packed->w3 + 16);
    return (int32_t)((uint32_t)sum_across(_mm_add_epi32(low, high)) + (uint32_t)packed->b3);
}

const NetKernel NET_KERNEL_SSE41 = {"SSE4.1", accumulate, forward};

#endif

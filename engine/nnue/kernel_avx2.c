// The kernel for AVX2. It must only be called on a machine that has AVX2; kernels.c checks that.
#include "nnue/kernel.h"

#if defined(__x86_64__)

#define TARGET __attribute__((target("avx2")))
#include "nnue/kernel_256.h"

// A pair of products is at most 2 * 127 * 128 and fits 16 bits.
TARGET static inline __m256i multiply_add(__m256i sums, __m256i in, __m256i weights) {
    __m256i pairs = _mm256_maddubs_epi16(in, weights);
    return _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

const NetKernel NET_KERNEL_AVX2 = {"AVX2", accumulate, forward};

#endif

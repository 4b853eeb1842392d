// The kernel for AVX-512 VNNI. One instruction of VNNI replaces three of AVX2. The kernel uses
// vectors of 32 bytes, because longer ones are not faster with a net of this size. It must only be
// called on a machine that has VNNI; kernels.c checks that.
#include "nnue/kernel.h"

#if defined(__x86_64__)

#define TARGET __attribute__((target("avx2,avx512vl,avx512vnni")))
#include "nnue/kernel_256.h"

TARGET static inline __m256i multiply_add(__m256i sums, __m256i in, __m256i weights) {
    return _mm256_dpbusd_epi32(sums, in, weights);
}

const NetKernel NET_KERNEL_VNNI = {"AVX-512 VNNI", accumulate, forward};

#endif

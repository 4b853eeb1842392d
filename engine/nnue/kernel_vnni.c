// The net with AVX-512 VNNI, whose one instruction does what takes AVX2 three, in vectors of 32
// bytes: longer ones gain nothing for a net this small. Nothing here runs on a machine without; see
// kernels.c.
#include "nnue/kernel.h"

#if defined(__x86_64__)

#define TARGET __attribute__((target("avx2,avx512vl,avx512vnni")))
#include "nnue/kernel_256.h"

TARGET static inline __m256i multiply_add(__m256i sums, __m256i in, __m256i weights) {
    return _mm256_dpbusd_epi32(sums, in, weights);
}

const NetKernel NET_KERNEL_VNNI = {"AVX-512 VNNI", accumulate, forward};

#endif

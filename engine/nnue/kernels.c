// Asks the processor which kernels it can run.
#include "nnue/kernels.h"

int net_kernels(const NetKernel *out[NET_KERNELS_MAX]) {
    int count = 0;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vl"))
        out[count++] = &NET_KERNEL_VNNI;
    if (__builtin_cpu_supports("avx2"))
        out[count++] = &NET_KERNEL_AVX2;
    if (__builtin_cpu_supports("sse4.1"))
        out[count++] = &NET_KERNEL_SSE41;
#elif defined(__aarch64__)
    out[count++] = &NET_KERNEL_NEON;
#endif
    out[count++] = &NET_KERNEL_PLAIN;
    return count;
}

// A kernel is the arithmetic of the net for one kind of vector unit. kernels.h chooses one when a
// net is loaded. All kernels give the same bits: sums of int16 and int32 wrap, although no net from
// a trainer makes them overflow. Internal to the net.
#pragma once

#include <stdalign.h>

#include "nnue/nnue.h"

enum { NET_PIECES_MAX = 32 }; // pieces besides the kings; no position has more than 30

// Rows to be added and rows to be subtracted.
typedef struct NetDelta {
    int plus_count, minus_count;
    const int16_t *plus[NET_PIECES_MAX], *minus[NET_PIECES_MAX];
} NetDelta;

// The dense layers in the order that the kernels read. Four inputs of one output lie together, and
// the outputs side by side. So four inputs are multiplied with all weights of a layer in one pass,
// without sums across a vector. If the four inputs are zero, as they often are, the pass is left
// out.
typedef struct NetPacked {
    alignas(64) int8_t w1[NET_INPUTS / 4][NET_HIDDEN][4]; // [input / 4][output][input % 4]
    int8_t w2[NET_HIDDEN / 4][NET_HIDDEN][4];
    int32_t b1[NET_HIDDEN];
    int32_t b2[NET_HIDDEN];
    int8_t w3[NET_HIDDEN];
    int32_t b3;
} NetPacked;

typedef struct NetKernel {
    const char *name;
    // out = from + the plus rows - the minus rows. `out` may be `from`.
    void (*accumulate)(int16_t *out, const int16_t *from, const NetDelta *delta);
    // The raw output from the accumulators of the side to move and of the other.
    int32_t (*forward)(const NetPacked *packed, const int16_t *us, const int16_t *them);
} NetKernel;

extern const NetKernel NET_KERNEL_PLAIN;
#if defined(__x86_64__)
extern const NetKernel NET_KERNEL_VNNI, NET_KERNEL_AVX2, NET_KERNEL_SSE41;
#elif defined(__aarch64__)
extern const NetKernel NET_KERNEL_NEON;
#endif

static inline void delta_clear(NetDelta *delta) {
    delta->plus_count = delta->minus_count = 0;
}
static inline void delta_add(NetDelta *delta, const int16_t *row) {
    delta->plus[delta->plus_count++] = row;
}
static inline void delta_remove(NetDelta *delta, const int16_t *row) {
    delta->minus[delta->minus_count++] = row;
}

// The kernel for NEON, which every 64-bit Arm processor has. It uses vectors of 16 bytes.
#include "nnue/kernel.h"

#if defined(__aarch64__)

#include <arm_neon.h>
#include <string.h>

#define VECTOR_BYTES 16
#define TARGET
#include "nnue/kernel_lanes.h"

// Clips a view's accumulator to bytes. The values fit signed bytes.
static void clip(const int16_t *in, int8_t out[NET_WIDTH]) {
    for (int i = 0; i < NET_WIDTH; i += 16) {
        int8x16_t bytes =
            vcombine_s8(vqmovn_s16(vld1q_s16(in + i)), vqmovn_s16(vld1q_s16(in + i + 8)));
        vst1q_s8(out + i, vmaxq_s8(bytes, vdupq_n_s8(0)));
    }
}

// Of four outputs each.
typedef struct Sums {
    int32x4_t v[NET_HIDDEN / 4];
} Sums;

static inline void sums_init(Sums *sums, const int32_t bias[NET_HIDDEN]) {
    for (int i = 0; i < NET_HIDDEN / 4; i++)
        sums->v[i] = vld1q_s32(bias + 4 * i);
}

// Four inputs times their weights for every output. A pair of products is at most 2 * 127 * 128 and
// fits 16 bits.
static inline void sums_add(Sums *sums, int32_t four, const int8_t (*w)[4]) {
    int8x8_t all = vreinterpret_s8_s32(vdup_n_s32(four));
    for (int i = 0; i < NET_HIDDEN / 4; i++) {
        int8x16_t weights = vld1q_s8(w[4 * i]);
        int16x8_t low = vmull_s8(all, vget_low_s8(weights));
        int16x8_t high = vmull_s8(all, vget_high_s8(weights));
        sums->v[i] = vpadalq_s16(sums->v[i], vpaddq_s16(low, high));
    }
}

static void layer(Sums *sums, const int8_t *in, int fours, const int8_t (*w)[NET_HIDDEN][4]) {
    for (int i = 0; i < fours; i++) {
        int32_t four;
        memcpy(&four, in + 4 * i, sizeof four);
        if (four)
            sums_add(sums, four, w[i]);
    }
}

// The 32 bytes of the next layer.
static void sums_clip(const Sums *sums, int8_t out[NET_HIDDEN]) {
    for (int i = 0; i < NET_HIDDEN / 8; i++) {
        int16x4_t low = vqmovn_s32(vshrq_n_s32(sums->v[2 * i], NET_SHIFT));
        int16x4_t high = vqmovn_s32(vshrq_n_s32(sums->v[2 * i + 1], NET_SHIFT));
        int8x8_t bytes = vqmovn_s16(vcombine_s16(low, high));
        vst1_s8(out + 8 * i, vmax_s8(bytes, vdup_n_s8(0)));
    }
}

static int32_t dot(const int8_t in[NET_HIDDEN], const int8_t w[NET_HIDDEN]) {
    int32x4_t sum = vdupq_n_s32(0);
    for (int i = 0; i < NET_HIDDEN; i += 8)
        sum = vpadalq_s16(sum, vmull_s8(vld1_s8(in + i), vld1_s8(w + i)));
    return vaddvq_s32(sum);
}

static int32_t forward(const NetPacked *packed, const int16_t *us, const int16_t *them) {
    int8_t x[NET_INPUTS], h1[NET_HIDDEN], h2[NET_HIDDEN];
    Sums sums;
    clip(us, x);
    clip(them, x + NET_WIDTH);
    sums_init(&sums, packed->b1);
    layer(&sums, x, NET_INPUTS / 4, packed->w1);
    sums_clip(&sums, h1);
    sums_init(&sums, packed->b2);
    layer(&sums, h1, NET_HIDDEN / 4, packed->w2);
    sums_clip(&sums, h2);
    return (int32_t)((uint32_t)dot(h2, packed->w3) + (uint32_t)packed->b3);
}

const NetKernel NET_KERNEL_NEON = {"NEON", accumulate, forward};

#endif

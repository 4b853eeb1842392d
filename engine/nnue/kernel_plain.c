// The kernel in plain C, which runs on every machine. Sums are unsigned so that they wrap as the
// sums of vectors do.
#include "nnue/kernel.h"

static void row_add(uint16_t sum[NET_WIDTH], const int16_t *row) {
    for (int i = 0; i < NET_WIDTH; i++)
        sum[i] = (uint16_t)(sum[i] + (uint16_t)row[i]);
}

static void row_remove(uint16_t sum[NET_WIDTH], const int16_t *row) {
    for (int i = 0; i < NET_WIDTH; i++)
        sum[i] = (uint16_t)(sum[i] - (uint16_t)row[i]);
}

static void accumulate(int16_t *out, const int16_t *from, const NetDelta *delta) {
    uint16_t sum[NET_WIDTH];
    for (int i = 0; i < NET_WIDTH; i++)
        sum[i] = (uint16_t)from[i];
    for (int r = 0; r < delta->plus_count; r++)
        row_add(sum, delta->plus[r]);
    for (int r = 0; r < delta->minus_count; r++)
        row_remove(sum, delta->minus[r]);
    for (int i = 0; i < NET_WIDTH; i++)
        out[i] = (int16_t)sum[i];
}

static uint8_t clip(int32_t value) {
    return (uint8_t)(value < 0 ? 0 : value > NET_CLIP ? NET_CLIP : value);
}

static void layer(const int8_t (*w)[NET_HIDDEN][4], const int32_t *bias, const uint8_t *in,
                  int fours, uint8_t out[NET_HIDDEN]) {
    uint32_t sum[NET_HIDDEN];
    for (int o = 0; o < NET_HIDDEN; o++)
        sum[o] = (uint32_t)bias[o];
    for (int c = 0; c < fours; c++, in += 4) {
        if (!(in[0] | in[1] | in[2] | in[3]))
            continue;
        for (int o = 0; o < NET_HIDDEN; o++)
            sum[o] += (uint32_t)(in[0] * w[c][o][0] + in[1] * w[c][o][1] + in[2] * w[c][o][2] +
                                 in[3] * w[c][o][3]);
    }
    for (int o = 0; o < NET_HIDDEN; o++)
        out[o] = clip((int32_t)sum[o] >> NET_SHIFT);
}

static int32_t forward(const NetPacked *packed, const int16_t *us, const int16_t *them) {
    uint8_t x[NET_INPUTS], h1[NET_HIDDEN], h2[NET_HIDDEN];
    for (int i = 0; i < NET_WIDTH; i++) {
        x[i] = clip(us[i]);
        x[NET_WIDTH + i] = clip(them[i]);
    }
    layer(packed->w1, packed->b1, x, NET_INPUTS / 4, h1);
    layer(packed->w2, packed->b2, h1, NET_HIDDEN / 4, h2);
    uint32_t raw = (uint32_t)packed->b3;
    for (int i = 0; i < NET_HIDDEN; i++)
        raw += (uint32_t)(packed->w3[i] * h2[i]);
    return (int32_t)raw;
}

const NetKernel NET_KERNEL_PLAIN = {"plain C", accumulate, forward};

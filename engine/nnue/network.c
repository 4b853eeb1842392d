// A net in memory, and its output for a position, computed from the beginning each time. The search
// uses accumulators instead (accumulator.c), which are faster.
#include "nnue/bytes.h"
#include "nnue/kernels.h"

#include <stdlib.h>
#include <string.h>

#include "rules/bitboard.h"

void network_release(Network *net) {
    free(net->rows);
    free(net->packed);
    *net = (Network){0};
}

void compact_release(CompactNet *compact) {
    free(compact->rows);
    *compact = (CompactNet){0};
}

static bool rows_are_shared(const Network *net, int a, int b) {
    return net->row_base[a] == net->row_base[b] && net->row_flip[a] == net->row_flip[b];
}

static void pack_layer(int8_t (*out)[NET_HIDDEN][4], const int8_t *w, int inputs) {
    for (int o = 0; o < NET_HIDDEN; o++)
        for (int i = 0; i < inputs; i++)
            out[i / 4][o][i % 4] = w[o * inputs + i];
}

void network_pack(Network *net) {
    const NetKernel *kernels[NET_KERNELS_MAX];
    net_kernels(kernels);
    net->kernel = kernels[0];
    for (int king = 0; king < 64; king++) {
        int first = 0;
        while (!rows_are_shared(net, first, king))
            first++;
        net->row_class[king] = (uint8_t)first;
    }
    if (!net->packed)
        net->packed = net_allocate(sizeof *net->packed);
    NetPacked *packed = net->packed;
    const NetDense *dense = &net->dense;
    pack_layer(packed->w1, (const int8_t *)dense->w1, NET_INPUTS);
    pack_layer(packed->w2, (const int8_t *)dense->w2, NET_HIDDEN);
    memcpy(packed->w3, dense->w3, sizeof packed->w3);
    memcpy(packed->b1, dense->b1, sizeof packed->b1);
    memcpy(packed->b2, dense->b2, sizeof packed->b2);
    packed->b3 = dense->b3;
}

// ---- output ------------------------------------------------------------------------------------

void network_accumulate(const Network *net, const Position *pos, Color view, NetRow out) {
    Square king = position_king(pos, view);
    NetDelta delta;
    delta_clear(&delta);
    for (Bitboard pieces = position_occupied(pos) & ~pos->by_type[KING]; pieces;) {
        Square s = bitboard_pop(&pieces);
        delta_add(&delta, network_row(net, view, king, pos->board[s], s));
    }
    net->kernel->accumulate(out, net->bias, &delta);
}

int32_t network_forward(const Network *net, const NetRow us, const NetRow them) {
    return net->kernel->forward(net->packed, us, them);
}

int32_t network_evaluate(const Network *net, const Position *pos) {
    NetRow us, them;
    network_accumulate(net, pos, pos->side, us);
    network_accumulate(net, pos, color_flip(pos->side), them);
    return network_forward(net, us, them);
}

// ---- layer by layer ----------------------------------------------------------------------------
// Uses the layers as they are in the file, so that packing and kernels can be tested against it.

static uint8_t clip(int32_t value) {
    return (uint8_t)(value < 0 ? 0 : value > NET_CLIP ? NET_CLIP : value);
}

// A sum that wraps on overflow, as in the kernels.
static int32_t affine(int32_t bias, const int8_t *w, const uint8_t *in, int inputs) {
    uint32_t sum = (uint32_t)bias;
    for (int i = 0; i < inputs; i++)
        sum += (uint32_t)(w[i] * in[i]);
    return (int32_t)sum;
}

void network_trace(const Network *net, const NetRow us, const NetRow them, NetTrace *trace) {
    const NetDense *dense = &net->dense;
    for (int i = 0; i < NET_WIDTH; i++) {
        trace->clipped[i] = clip(us[i]);
        trace->clipped[NET_WIDTH + i] = clip(them[i]);
    }
    for (int o = 0; o < NET_HIDDEN; o++)
        trace->h1[o] =
            clip(affine(dense->b1[o], dense->w1[o], trace->clipped, NET_INPUTS) >> NET_SHIFT);
    for (int o = 0; o < NET_HIDDEN; o++)
        trace->h2[o] = clip(affine(dense->b2[o], dense->w2[o], trace->h1, NET_HIDDEN) >> NET_SHIFT);
    trace->raw = affine(dense->b3, dense->w3, trace->h2, NET_HIDDEN);
}

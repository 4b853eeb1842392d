// What the tests of the net share: nets made from a seed, files of them, positions turned about.
#pragma once

#include "tests/unit/rules/rules_kit.h"

#include <stdlib.h>

#include "engine/base/checksum.h"
#include "engine/base/random.h"
#include "engine/nnue/kernels.h"

static inline int net_random(uint64_t *state, int least, int most) {
    return least + random_below(state, most - least + 1);
}

// How large the values of a made-up net are.
typedef struct NetScale {
    int row, w1, w2, w3, bias;
} NetScale;

static const NetScale usual_scale = {40, 8, 40, 60, 3000};
// As large as the file can hold: sums of 16 and of 32 bits wrap.
static const NetScale extreme_scale = {32767, 127, 127, 127, 1000000000};

static inline void dense_fill(NetDense *dense, uint64_t *state, const NetScale *scale) {
    for (int o = 0; o < NET_HIDDEN; o++) {
        for (int i = 0; i < NET_INPUTS; i++)
            dense->w1[o][i] = (int8_t)net_random(state, -scale->w1 - (scale->w1 == 127), scale->w1);
        for (int i = 0; i < NET_HIDDEN; i++)
            dense->w2[o][i] = (int8_t)net_random(state, -scale->w2, scale->w2);
        dense->w3[o] = (int8_t)net_random(state, -scale->w3, scale->w3);
        dense->b1[o] = net_random(state, -scale->bias, scale->bias);
        dense->b2[o] = net_random(state, -scale->bias, scale->bias);
    }
    dense->b3 = net_random(state, -scale->bias, scale->bias);
}

static inline void compact_fill(CompactNet *compact, int buckets, uint64_t seed,
                                const NetScale *scale) {
    uint64_t state = seed;
    compact_init(compact, buckets);
    for (int i = 0; i < 32; i++)
        compact->bucket_of[i] = (uint8_t)(i * buckets / 32);
    for (int i = 0; i < NET_WIDTH; i++)
        compact->bias[i] = (int16_t)net_random(&state, -scale->row, scale->row);
    for (int r = 0; r < buckets * NET_FEATURES; r++)
        for (int i = 0; i < NET_WIDTH; i++)
            compact->rows[r][i] = (int16_t)net_random(&state, -scale->row, scale->row);
    dense_fill(&compact->dense, &state, scale);
}

static inline void network_fill_compact(Network *net, int buckets, uint64_t seed,
                                        const NetScale *scale) {
    CompactNet compact;
    compact_fill(&compact, buckets, seed, scale);
    compact_expand(&compact, net);
    compact_release(&compact);
}

// With rows of its own for every king square, the unused ones among them.
static inline void network_fill(Network *net, uint64_t seed, const NetScale *scale) {
    uint64_t state = seed;
    size_t size;
    Refusal err;
    network_fill_compact(net, 1, seed, scale);
    uint8_t *bytes = network_write(net, &size);
    network_release(net);
    if (!network_read(net, bytes, size, &err))
        fail_msg("%s", err.message);
    free(bytes);
    for (uint32_t r = 0; r < net->row_count; r++)
        for (int i = 0; i < NET_WIDTH; i++)
            net->rows[r][i] = (int16_t)net_random(&state, -scale->row, scale->row);
}

// Sets the CRC-32 at the end of a compact file to what it should be.
static inline void compact_seal(uint8_t *bytes, size_t size) {
    uint32_t crc = checksum_crc32(0, bytes, size - 4);
    for (int i = 0; i < 4; i++)
        bytes[size - 4 + (size_t)i] = (uint8_t)(crc >> 8 * i);
}

// The position with each square s holding what stood on s ^ `turn`, and colours and the move
// exchanged if `swap`; castling and en passant do not matter to a net.
static inline Position turned(const Position *pos, int turn, bool swap) {
    char fen[FEN_MAX];
    int length = 0;
    for (int rank = 7; rank >= 0; rank--) {
        for (int file = 0; file < 8; file++) {
            Piece p = pos->board[square_make(file, rank) ^ turn];
            fen[length++] = p == NO_PIECE ? '1' : (swap ? "pnbrqk??PNBRQK" : "PNBRQK??pnbrqk")[p];
        }
        fen[length++] = rank > 0 ? '/' : ' ';
    }
    bool white = (pos->side == WHITE) != swap;
    snprintf(fen + length, sizeof fen - (size_t)length, "%c - - %d 1", white ? 'w' : 'b',
             pos->rule50);
    return position_of(fen);
}

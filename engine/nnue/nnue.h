// The net: a small neural network that evaluates positions. Its first layer is updated after each
// move (Nasu, "Efficiently updatable neural-network-based evaluation functions", 2018). It has the
// published form HalfKP 256x2-32-32. All arithmetic uses integers, so the results are the same on
// every machine. This file has the net in memory, its two file forms, and its output. Accumulators
// that follow the moves of a search are in accumulator.h; the choice of the fastest code is in
// kernels.h.
//
// Arithmetic: a view is a colour that looks at the board. White sees square s, Black sees s ^ 63
// (half a turn). The accumulator of a view is bias + the sum of the rows of its features. There is
// one feature for each piece except the kings.
//   x   = clamp(the accumulator of the side to move, then the other one, 0, 127): 512 bytes
//   h1  = clamp((b1 + w1 x) >> 6, 0, 127)
//   h2  = clamp((b2 + w2 h1) >> 6, 0, 127)
//   raw = b3 + w3 h2
#pragma once

#include "rules/error.h"
#include "rules/position.h"

enum {
    NET_WIDTH = 256,            // values of an accumulator, one view's
    NET_INPUTS = 2 * NET_WIDTH, // of the first dense layer
    NET_HIDDEN = 32,            // h1 and h2
    NET_PLANES = 10,            // own pawn, their pawn, own knight, … their queen
    NET_FEATURES = NET_PLANES * 64,
    NET_ROWS = 64 * (NET_FEATURES + 1), // of the published form: row 641 * king is never used
    NET_BUCKETS_MAX = 16,
    NET_CLIP = 127,         // the value that stands for 1 after a clipped ReLU
    NET_SHIFT = 6,          // 64 stands for 1 in w1 and w2
    NET_RAW_PER_PAWN = 3328 // 16 * 208
};

typedef int16_t NetRow[NET_WIDTH];

// The layers behind the accumulators, as the published form has them.
typedef struct NetDense {
    int32_t b1[NET_HIDDEN];
    int8_t w1[NET_HIDDEN][NET_INPUTS];
    int32_t b2[NET_HIDDEN];
    int8_t w2[NET_HIDDEN][NET_HIDDEN];
    int32_t b3;
    int8_t w3[NET_HIDDEN];
} NetDense;

// A net that is ready for use. `king` is the square of the view's own king as the view sees it; its
// rows begin at row_base[king], and squares are looked up as square ^ row_flip[king]. King squares
// may share rows: a compact net is not expanded to 21 MB, so that its rows stay in the caches.
// It is constant, and any number of threads may use it.
typedef struct Network {
    NetRow *rows; // 64-byte aligned
    uint32_t row_count;
    uint32_t row_base[64];
    uint8_t row_flip[64]; // 0, or 7 where the board is mirrored
    NetRow bias;
    NetDense dense;
    // Made from the above by network_pack().
    uint8_t row_class[64];          // the first king square that has the same rows
    struct NetPacked *packed;       // the dense layers in the order that the kernel reads
    const struct NetKernel *kernel; // the fastest code that this machine runs
} Network;

// The net as the trainer makes it. King squares of one bucket share their rows. The board is
// mirrored so that the own king stands on the files a to d. Feature f = 64 * plane + square; the
// square is as the view sees it, and is mirrored with the king.
typedef struct CompactNet {
    int buckets;           // 1 to NET_BUCKETS_MAX
    uint8_t bucket_of[32]; // by king square as the view sees it, mirrored: rank * 4 + file
    NetRow bias;
    NetRow *rows; // [buckets * NET_FEATURES]: rows[bucket * NET_FEATURES + feature]
    NetDense dense;
} CompactNet;

// ---- memory ------------------------------------------------------------------------------------

void network_release(Network *net); // safe on a zeroed one and twice
// Allocates memory for this number of buckets, all zero. Out of memory ends the process.
void compact_init(CompactNet *compact, int buckets);
void compact_release(CompactNet *compact);

// ---- files -------------------------------------------------------------------------------------
// The readers accept bytes from any source and refuse everything that is not exactly in the form.
// On false, `err` says what is wrong and where, and nothing is allocated. The writers return new
// memory, to be freed.

// The published form, version 0x7AF32F16. Its description may be any text.
bool network_read(Network *net, const void *bytes, size_t size, Refusal *err)
    __attribute__((warn_unused_result));
uint8_t *network_write(const Network *net, size_t *size);

// The compact form; see compact.c for its bytes.
bool compact_read(CompactNet *compact, const void *bytes, size_t size, Refusal *err)
    __attribute__((warn_unused_result));
uint8_t *compact_write(const CompactNet *compact, size_t *size);
// A new Network that gives the same outputs.
void compact_expand(const CompactNet *compact, Network *net);

// Reads either form, from memory or a file. The first bytes say which form it is.
bool network_parse(Network *net, const void *bytes, size_t size, Refusal *err)
    __attribute__((warn_unused_result));
bool network_load(Network *net, const char *path, Refusal *err) __attribute__((warn_unused_result));

// A file in the compact form.
bool compact_load(CompactNet *compact, const char *path, Refusal *err)
    __attribute__((warn_unused_result));

// Finds a net by its name, as users write it: "<default>" (also an empty text), "none", or the path
// of a file. `*chosen` is set to the net, or to NULL for none. It points to `own` if a file was
// read; otherwise `own` is empty.
bool network_choose(const char *name, Network *own, const Network **chosen, Refusal *err)
    __attribute__((warn_unused_result));

// The net that the program was built with, or NULL if there is none. It is read on the first call.
// If it is damaged, the process ends with a message.
const Network *network_default(void);
// SHA-256 of its compact file, 64 hexadecimal digits; "" without one.
const char *network_default_sha256(void);

// ---- features ----------------------------------------------------------------------------------

// Square as the view sees it.
static inline Square net_square(Color view, Square s) {
    return (Square)(s ^ (view == BLACK ? 63 : 0));
}
// Plane of a piece that is not a king.
static inline int net_plane(Color view, Piece piece) {
    return 2 * piece_type(piece) + (piece_color(piece) != view);
}
// Index in the published form; `king` is the view's own, both squares as on the board.
static inline int net_index(Color view, Square king, Piece piece, Square s) {
    return net_square(view, s) + 1 + 64 * net_plane(view, piece) +
           (NET_FEATURES + 1) * net_square(view, king);
}
// The row of weights of a piece on a square.
static inline const int16_t *network_row(const Network *net, Color view, Square king, Piece piece,
                                         Square s) {
    Square k = net_square(view, king);
    uint32_t feature =
        (uint32_t)(64 * net_plane(view, piece) + (net_square(view, s) ^ net->row_flip[k]));
    return net->rows[net->row_base[k] + feature];
}
// Compact nets: the bucket of a king square, and whether the board is mirrored for it. `king` is as
// the view sees it.
static inline int compact_bucket(const CompactNet *compact, Square king) {
    int file = square_file(king);
    return compact->bucket_of[square_rank(king) * 4 + (file < 4 ? file : 7 - file)];
}
static inline int compact_flip(Square king) {
    return square_file(king) < 4 ? 0 : 7;
}

// ---- output ------------------------------------------------------------------------------------

// Call it after a net was filled or changed by hand. The readers call it themselves.
void network_pack(Network *net);
// The accumulator of one view, computed from the beginning.
void network_accumulate(const Network *net, const Position *pos, Color view, NetRow out);
// The raw output for the side to move, from its accumulator and the other side's, by the kernel in
// use.
int32_t network_forward(const Network *net, const NetRow us, const NetRow them);
// Both steps together. This is slow; it is meant for tools and tests.
int32_t network_evaluate(const Network *net, const Position *pos);

// The values of all layers, computed in plain C.
typedef struct NetTrace {
    uint8_t clipped[NET_INPUTS];
    uint8_t h1[NET_HIDDEN], h2[NET_HIDDEN];
    int32_t raw;
} NetTrace;
void network_trace(const Network *net, const NetRow us, const NetRow them, NetTrace *trace);

// Raw output in centipawns, towards zero.
static inline int network_centipawns(int32_t raw) {
    return (int)((int64_t)raw * 100 / NET_RAW_PER_PAWN);
}
